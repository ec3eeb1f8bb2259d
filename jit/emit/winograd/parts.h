// The parts of a Winograd kernel as private functions of its module, for
// jit/emit/winograd.cpp alone.
#pragma once

#include "jit/emit/kernel_function.h"
#include "jit/emit/vector_builder.h"
#include "src/program/winograd/form.h"

namespace fxjit::jit {

// What the bodies of all parts emit with.
struct WinogradPart {
  VectorBuilder& b;
  const program::WinogradForm& form;
  Value* numbers;  // The step's, see program::winograd_numbers.

  Value* number(program::WinogradNumber which) const {
    return number(static_cast<size_t>(which));
  }
  // Strides of operand `i`, extras first.
  Value* batch_stride(size_t i) const { return number(first_stride(i)); }
  Value* row_stride(size_t i) const { return number(first_stride(i) + 1); }

  Value* load(Value* base, int64_t elements) const {
    return b.load_aligned(b.offset(base, b.f32(), elements));
  }
  void store(Value* value, Value* base, int64_t elements) const {
    b.store_aligned(value, b.offset(base, b.f32(), elements));
  }
  Value* times(Value* index, int64_t factor) const {
    return b.mul(index, b.i64(factor));
  }

 private:
  Value* number(size_t i) const {
    return load_constant(b, b.i64(), numbers, i * sizeof(int64_t));
  }
  static size_t first_stride(size_t i) {
    return static_cast<size_t>(program::WinogradNumber::count) + 2 * i;
  }
};

// A new private function of `b`'s module: void(ptr numbers, ptr..., i64...)
// with `pointers` more pointers and then `integers` i64; its body is made by
// `emit`.
llvm::Function* make_winograd_part(
    VectorBuilder& b, const program::WinogradForm& form, const char* name,
    int pointers, int integers,
    llvm::function_ref<void(const WinogradPart&)> emit);

// void(ptr numbers, ptr places, ptr inputs): transforms all channels of one
// tile, whose pixels' addresses are at `places`, to its place in the first
// channel block.
llvm::Function* make_winograd_input(VectorBuilder& b,
                                    const program::WinogradForm& form);

// void(ptr numbers, ptr inputs, ptr weights, ptr sums, ptr ahead): sums over
// the channels of one frequency of a group of tiles. Half as many bytes as it
// reads of the weights are fetched from `ahead` where the form says so.
llvm::Function* make_winograd_sums(VectorBuilder& b,
                                   const program::WinogradForm& form);

// void(ptr numbers, ptr sums, ptr extras..., ptr outputs..., i64 rows,
// i64 columns): transforms one tile's sums of one panel back and does the
// epilogue for `rows` x `columns` pixels. Pointers are to the tile's first
// pixel and the panel's first feature. Of the last panel only its features are
// touched.
llvm::Function* make_winograd_output(VectorBuilder& b,
                                     const program::WinogradForm& form,
                                     bool last_panel);

}  // namespace fxjit::jit
