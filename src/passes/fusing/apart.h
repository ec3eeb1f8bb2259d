// Why a node is not computed together with one that it reads. Grouping decides,
// steps carry it, reports print it.
#pragma once

#include <cstdint>
#include <string_view>

namespace fxjit::passes {

enum class Apart : uint8_t {
  none,             // They are together, or nothing is known.
  switched_off,     // A pass is left out.
  full_group,       // More nodes would only spill registers.
  other_shape,      // The loops run over another shape.
  other_rows,       // Their rows consist of different dims.
  other_order,      // It is read through a view, at other places.
  leaves_and_back,  // Another step stands on a path between them.
  second_product,   // One product, or one reduction over columns, a step.
  cheaper_again,    // Only others read it, who compute it again for less.
  positions,       // Values depend on their place, which the loops do not know.
  read_by_others,  // More than one reduction over columns reads it.
  unfit_epilogue,  // The tiles of a product cannot address or compute it.
  no_epilogue,     // What computes it takes no work on its results.
  product_operand,  // A product or attention reads each element many times.
  picked,           // Elements are picked by an index: all must be there.
  routine_operand,  // A routine or a copy reads finished values.
};

// A clause that says so, such as "the loops run over another shape".
std::string_view apart_text(Apart apart);

}  // namespace fxjit::passes
