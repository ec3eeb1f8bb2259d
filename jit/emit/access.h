// Where the operands of row and column steps lie and how vectors of their
// elements are read and written. Used by the row and column skeletons.
#pragma once

#include <vector>

#include "jit/emit/kernel_function.h"
#include "jit/emit/vector_builder.h"
#include "src/program/steps/loop_form.h"

namespace fxjit::jit {

// A vector of positions along the inner dim. The lanes from `active` on lie
// beyond the end of the row and are neither read nor written.
struct Place {
  Value* first = nullptr;   // i64: position of lane 0.
  Value* active = nullptr;  // i32 or i64; null: all.
  // The lanes of the vector; 0 for those of a vector register.
  int lanes = 0;
};

// An i1 vector, or null when all lanes are active.
Value* active_mask(VectorBuilder& b, const Place& place);

// The elements at `place` of a row that starts at `row`.
Value* load_at(VectorBuilder& b, DType dtype, int64_t inner_stride, Value* row,
               const Place& place);
void store_at(VectorBuilder& b, DType dtype, int64_t inner_stride, Value* value,
              Value* row, const Place& place);

// An access of a form as the emitted code sees it: each stride is a constant or
// has been read from the step's arguments.
struct ArgumentAccess {
  Values outer;  // Strides; null: 0.
  Values reduce;
  Value* inner;          // Stride along the row.
  Value* gather_stride;  // Null where nothing is gathered.
  Value* gather_limit;
};

// The sizes and accesses of a form as the emitted code sees them. Made at the
// beginning of the function, where it reads the step's arguments.
struct StepArguments {
  StepArguments(VectorBuilder& b, const program::LoopForm& form);

  Value* inner;
  Values outer;
  Values reduce;
  std::vector<ArgumentAccess> accesses;  // Inputs, then outputs.
};

// The position along each dim of point number `linear` in row-major order of
// `sizes`. The first size is not read.
Values unravel(VectorBuilder& b, Value* linear, const Values& sizes);

// base + the sum of indices * strides, in elements of `dtype`.
Value* point_address(VectorBuilder& b, Value* base, DType dtype,
                     const Values& strides, const Values& indices);

// The first element of each of the first `count` operands at a point of the
// outer or of the reduced dims; `strides` is the field of their accesses for
// these dims. For a gathered operand it is the element that the index names,
// unless every element has an index of its own.
Values operand_addresses(VectorBuilder& b, const program::LoopForm& form,
                         const StepArguments& arguments, const Values& operands,
                         size_t count, Values ArgumentAccess::* strides,
                         const Values& point);

// The elements at `place` of an access with an index for each element: element
// i is at base + index * gather_stride + position * inner. An index outside of
// the limit counts as 0 and makes the call fail.
Value* gather_elements(VectorBuilder& b, const KernelArgs& args, Value* base,
                       DType dtype, const ArgumentAccess& access,
                       Value* indices, DType index_dtype, const Place& place);

}  // namespace fxjit::jit
