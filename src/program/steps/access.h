// How a kernel walks one operand of a row or column step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fxjit/dims.h"
#include "fxjit/dtype.h"
#include "src/program/steps/fields.h"

namespace fxjit::program {

// The strides, in elements, with which a kernel walks one operand. A stride of
// 0 broadcasts.
struct Access {
  DType dtype = DType::f32;
  Dims outer;         // One stride per outer dim.
  Dims reduce;        // One stride per reduced dim (column steps only).
  int64_t inner = 1;  // Stride along the inner dim.
  // Not negative for a gathered operand: index * gather_stride is added to its
  // address, in elements. `index` is the element of the integer input
  // `gather_slot` for this row or, if that input of a row step varies along the
  // row, for each element. An index outside of [0, gather_limit) sets the
  // status of the call, and row 0 is read.
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

// Whether the index of a gathered access varies along the row, so that every
// element has an address of its own. `inputs` are the accesses of the step's
// inputs.
inline bool gathers_elements(const std::vector<Access>& inputs,
                             const Access& access) {
  return access.gather_slot >= 0 &&
         inputs[static_cast<size_t>(access.gather_slot)].inner != 0;
}

}  // namespace fxjit::program
