// How a kernel walks one operand of a row or column step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fxjit/dims.h"
#include "fxjit/dtype.h"
#include "src/program/steps/fields.h"

namespace fxjit::program {

// Strides are in elements; one of 0 broadcasts.
struct Access {
  DType dtype = DType::f32;
  Dims outer;         // One stride per outer dim.
  Dims reduce;        // One stride per reduced dim (column steps only).
  int64_t inner = 1;  // Stride along the inner dim.
  // A gathered operand adds index * gather_stride to its address, where index
  // is the element of input `gather_slot` (an integer) for this row or, where
  // that input of a row step varies along the row, for each element; indices
  // outside [0, gather_limit) set the status and read row 0.
  int32_t gather_slot = -1;
  int64_t gather_stride = 0;
  int64_t gather_limit = 0;

  friend bool operator==(const Access&, const Access&) = default;
};

template <typename V>
void fields(Is<Access> auto& s, V& v) {
  v("dtype", s.dtype), v("outer", s.outer), v("reduce", s.reduce);
  v("inner", s.inner), v("gather_slot", s.gather_slot);
  v("gather_stride", s.gather_stride), v("gather_limit", s.gather_limit);
}

// Whether the index of a gathered access differs along the row, so that every
// element has an address of its own. `inputs` are those of its step.
inline bool gathers_elements(const std::vector<Access>& inputs,
                             const Access& access) {
  return access.gather_slot >= 0 &&
         inputs[static_cast<size_t>(access.gather_slot)].inner != 0;
}

}  // namespace fxjit::program
