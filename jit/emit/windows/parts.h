// What the loops of all window kernels share: numbers and operands of the call.
// For jit/emit/windows alone.
#pragma once

#include "jit/emit/body.h"
#include "jit/emit/loop_epilogue.h"
#include "src/program/windows/form.h"

namespace fxjit::jit {

class WindowParts : public LoopEpilogue {
 public:
  // Reads what the call has, at the builder's position.
  WindowParts(VectorBuilder& b, const program::WindowForm& form);

  Value* number(program::WindowNumber which) const {
    return number_at(static_cast<size_t>(which));
  }
  // Whether one of the weights is infinite or NaN. Where they were not packed,
  // `sum` gives the sum of zero times each.
  Value* has_special(llvm::function_ref<Value*()> sum) const;
  // The same of `count` weights from `first` on, which are read if not packed.
  Value* has_special(Value* first, Value* count) const;
  // Elements of the input, and a vector of them as floats.
  Value* elements(Value* base, Value* count) const {
    return b.offset(base, b.memory_type(form.input), count);
  }
  // `place` counts results, of which a channel may have several.
  Value* load(Value* base, const Place& place) const;
  // What counts for elements outside the input.
  Value* outside() const;
  // Fills `count` elements at the beginning of the scratch with it.
  void fill_outside(Value* count) const;

  // With channels innermost, loops over the tiles of a task: some rows of an
  // image of the result or of one of its slices. Tiles at the ends overlap
  // those before.
  struct Tile {
    Value *image, *depth;  // The image of the input, the result's slice.
    Values slices;         // The epilogue's operands there.
    Value *y, *x;
  };
  void each_tile(int64_t rows, int64_t across,
                 llvm::function_ref<void(const Tile&)> body) const;

  const program::WindowForm& form;
  Value *input = nullptr, *weights = nullptr, *bias = nullptr;
  // 0 if all weights are finite, else NaN: of packed weights.
  Value* weights_head = nullptr;
  Value *zeros = nullptr, *table = nullptr, *strip = nullptr;
};

// Loops over tasks, for the two orders of memory and for planes that are turned
// on the way.
void emit_planes(const WindowParts& parts);
void emit_ring(const WindowParts& parts);
void emit_channels(const WindowParts& parts);
// Results sum the channels of their group.
void emit_groups(const WindowParts& parts);

}  // namespace fxjit::jit
