// The parts of a Winograd kernel as private functions of its module, for
// jit/emit/winograd.cpp alone.
#pragma once

#include "jit/emit/vector_builder.h"
#include "src/program/steps.h"
#include "src/program/winograd.h"

namespace fxjit::jit {

// What the bodies of all parts emit with.
struct WinogradPart {
  VectorBuilder& b;
  const program::WinogradStep& step;
  const program::WinogradShape& shape;

  int alignment() const { return b.lanes() * 4; }
  Value* load(Value* base, int64_t elements) const {
    return b.load_raw(b.vec(b.f32()), b.offset(base, b.f32(), elements),
                      alignment());
  }
  void store(Value* value, Value* base, int64_t elements) const {
    b.store_raw(value, b.offset(base, b.f32(), elements), alignment());
  }
  Value* times(Value* index, int64_t factor) const {
    return b.ir().CreateMul(index, b.i64(factor));
  }
};

// A new private function of `b`'s module with `pointers` pointers and then
// `integers` i64; its body is made by `emit`.
llvm::Function* make_winograd_part(
    VectorBuilder& b, const char* name, int pointers, int integers,
    llvm::function_ref<void(VectorBuilder&)> emit);

// void(ptr places, ptr inputs): transforms all channels of one tile, whose
// pixels' addresses are at `places`, to its place in the first channel block.
llvm::Function* make_winograd_input(VectorBuilder& b,
                                    const program::WinogradStep& step,
                                    const program::WinogradShape& shape);

// void(ptr inputs, ptr weights, ptr sums): sums over the channels of one
// frequency of a group of tiles.
llvm::Function* make_winograd_sums(VectorBuilder& b,
                                   const program::WinogradStep& step,
                                   const program::WinogradShape& shape);

// void(ptr sums, ptr extras..., ptr outputs..., i64 rows, i64 columns):
// transforms one tile's sums of one panel back and does the epilogue for
// `rows` x `columns` pixels. Pointers are to the tile's first pixel and the
// panel's first feature; `features` of the panel are there.
llvm::Function* make_winograd_output(VectorBuilder& b,
                                     const program::WinogradStep& step,
                                     const program::WinogradShape& shape,
                                     int64_t features);

}  // namespace fxjit::jit
