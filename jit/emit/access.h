// Where the operands of row and column steps lie and how vectors of their
// elements are read and written. Used by the row and column skeletons.
#pragma once

#include <vector>

#include "jit/emit/kernel_function.h"
#include "jit/emit/vector_builder.h"
#include "src/program/steps/loop_form.h"

namespace fxjit::jit {

// A vector of positions along the inner dim. Lanes from `active` on are beyond
// its end; they are never read or written.
struct Place {
  Value* first = nullptr;   // i64: position of lane 0.
  Value* active = nullptr;  // i32 or i64; null: all.
  int lanes = 0;            // As many as a vector register has, if 0.
};

// An i1 vector, or null when all lanes are active.
Value* active_mask(VectorBuilder& b, const Place& place);

// The elements at `place` of a row that starts at `row`.
Value* load_at(VectorBuilder& b, DType dtype, int64_t inner_stride, Value* row,
               const Place& place);
void store_at(VectorBuilder& b, DType dtype, int64_t inner_stride, Value* value,
              Value* row, const Place& place);

// An access of a form for the code that is made: its arguments are read.
struct ArgumentAccess {
  Values outer;  // Strides; null: 0.
  Values reduce;
  Value* inner;          // Stride along the row.
  Value* gather_stride;  // Null where nothing is gathered.
  Value* gather_limit;
};

// A form's sizes and accesses likewise. Made at the beginning of the function.
struct StepArguments {
  StepArguments(VectorBuilder& b, const program::LoopForm& form);

  Value* inner;
  Values outer;
  Values reduce;
  std::vector<ArgumentAccess> accesses;  // Inputs, then outputs.
};

// The position along each of `sizes` of point number `linear` in row-major
// order. The first size does not matter.
Values unravel(VectorBuilder& b, Value* linear, const Values& sizes);

// base + the sum of indices * strides, in elements of `dtype`.
Value* point_address(VectorBuilder& b, Value* base, DType dtype,
                     const Values& strides, const Values& indices);

// First elements of the first `count` operands at a point of the outer or the
// reduced dims: `strides` is that field of their accesses. Gathered ones but
// those that are gathered by element lie where their index says.
Values operand_addresses(VectorBuilder& b, const program::LoopForm& form,
                         const StepArguments& arguments, const Values& operands,
                         size_t count, Values ArgumentAccess::* strides,
                         const Values& point);

// Elements at `place` that each have an index of their own: those of a gathered
// access at base + index * gather_stride + position * inner. Indices outside
// count as 0 and fail the call.
Value* gather_elements(VectorBuilder& b, const KernelArgs& args, Value* base,
                       DType dtype, const ArgumentAccess& access,
                       Value* indices, DType index_dtype, const Place& place);

}  // namespace fxjit::jit
