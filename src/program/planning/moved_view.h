// What becomes of a view when the memory that it views lies otherwise.
#pragma once

#include <optional>

#include "fxjit/tensor.h"

namespace fxjit::program {

// A view as sizes and strides, and the elements before its first one.
struct MovedView {
  Tensor val;
  int64_t offset = 0;
};

// The view `view`, `offset` elements into a dense value `val`, once that value
// has the strides `moved`. Nothing where a dim of the view goes along several
// dims of the value that do not lie as one then.
std::optional<MovedView> move_view(const Tensor& view, int64_t offset,
                                   const Tensor& val, const Dims& moved);

// Whether the strides `moved` leave gaps in a value, but its dims in the order
// in which they are nested and neighbours of the innermost one together.
bool leaves_order(const Tensor& val, const Dims& moved);

// Whether all elements lie as those of `dense`, a value of the same sizes.
bool lies_as(const Tensor& val, const Tensor& dense);

}  // namespace fxjit::program
