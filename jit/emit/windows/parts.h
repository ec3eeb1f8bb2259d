// What the loops of all window kernels share: numbers and operands of the call,
// the epilogue. For jit/emit/windows alone.
#pragma once

#include "jit/emit/access.h"
#include "jit/emit/body.h"
#include "jit/emit/kernel_function.h"
#include "jit/emit/vector_builder.h"
#include "src/program/windows/form.h"

namespace fxjit::jit {

class WindowParts {
 public:
  // Reads what the call has, at the builder's position.
  WindowParts(VectorBuilder& b, const program::WindowForm& form);

  Value* number(program::WindowNumber which) const;
  Value* floats(Value* base, Value* count) const {
    return b.offset(base, b.f32(), count);
  }
  // Elements of the input, and a vector of them as floats.
  Value* elements(Value* base, Value* count) const {
    return b.offset(base, b.memory_type(form.input), count);
  }
  Value* load(Value* base, const Place& place) const {
    return convert_computed(b, load_at(b, form.input, 1, base, place),
                            form.input, DType::f32);
  }
  // What counts for elements outside the input.
  Value* outside() const;
  // Fills `count` elements at the beginning of the scratch with it.
  void fill_outside(Value* count) const;

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

  // Those of the epilogue, extras first.
  size_t operands() const { return form.loops.operands(); }
  // Operands at the point `at` of the outer dims from `first` on.
  Values moved(const Values& from, size_t first, const Values& at) const;
  // The epilogue of a vector of sums at `place` of the inner dim, of operands
  // whose inner dim begins at `rows`.
  void emit_epilogue(Value* sum, const Values& rows, const Place& place) const;
  // That of all sums of the inner dim, which wait at `sums`.
  void emit_strip(Value* sums, const Values& rows) const;

  VectorBuilder& b;
  const program::WindowForm& form;
  const int lanes;
  KernelArgs args;
  StepArguments arguments;
  Value *input = nullptr, *weights = nullptr, *bias = nullptr;
  Values bases;  // Of the epilogue's operands.
  Value *zeros = nullptr, *table = nullptr, *strip = nullptr;
};

// Loops over tasks, for the two orders of memory and for planes that are turned
// on the way.
void emit_planes(const WindowParts& parts);
void emit_ring(const WindowParts& parts);
void emit_channels(const WindowParts& parts);

}  // namespace fxjit::jit
