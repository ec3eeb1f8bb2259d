// What skeletons share that compute some results of loops and then do more with
// them: vectors along the inner dim, and the epilogue as a body whose slot 0 is
// the result and whose others are the inputs of the loops.
#pragma once

#include <vector>

#include "jit/emit/access.h"
#include "jit/emit/kernel_function.h"
#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

class LoopEpilogue {
 public:
  // Reads what the call has, at the builder's position: inputs and outputs of
  // the loops are its operands from number `first` on. With `narrow` the inner
  // dim is shorter than `lanes`.
  LoopEpilogue(VectorBuilder& b, const program::LoopForm& loops,
               const ScalarBody& body, int64_t lanes, bool narrow,
               size_t first);

  Value* floats(Value* base, Value* count) const {
    return b.offset(base, b.f32(), count);
  }
  // A number of the step behind the arguments of its loops.
  Value* number_at(size_t place) const;

  // A vector at `first` of a dim of `size` elements.
  Place place(Value* first, Value* size) const;
  // Loops over the vectors of a dim of `size` elements. The last one overlaps
  // the one before: it begins at `first`, behind `c` elements of others.
  Values each_vector(
      Value* size, const Values& init,
      llvm::function_ref<Values(Value* c, Value* first, const Values& carried)>
          body) const;
  void each_vector(Value* size,
                   llvm::function_ref<void(Value* c, Value* first)> body) const;

  // Operands at the point `at` of the outer dims from `first` on.
  Values moved(const Values& from, size_t first, const Values& at) const;
  // The epilogue of a vector of results at `place` of the inner dim, of
  // operands whose inner dim begins at `rows`.
  void emit_epilogue(Value* sum, const Values& rows, const Place& place) const {
    emit_epilogues({sum}, {rows}, place);
  }
  // Those of several points, a few of them side by side.
  void emit_epilogues(const Values& sums, const std::vector<Values>& rows,
                      const Place& place) const;
  // That of all results of the inner dim, which wait at `sums`.
  void emit_strip(Value* sums, const Values& rows) const;

  VectorBuilder& b;
  const int lanes;
  KernelArgs args;
  StepArguments arguments;
  Values bases;  // Of inputs and outputs.

 private:
  // What is done to a vector of results, but for the stores.
  Values results_of(Value* sum, const Values& rows, const Place& place) const;

  const program::LoopForm& loops_;
  const ScalarBody& body_;
  const bool narrow_;
};

}  // namespace fxjit::jit
