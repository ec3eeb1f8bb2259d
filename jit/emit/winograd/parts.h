// The parts of a Winograd kernel, private functions of its module, for
// jit/emit/winograd.cpp alone.
#pragma once

#include "jit/emit/kernel_function.h"
#include "jit/emit/vector_builder.h"
#include "src/program/winograd/form.h"

namespace fxjit::jit {

// What the bodies of all parts are emitted with.
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

  // What transformed numbers are summed in.
  llvm::Type* sums_type() const {
    return b.vec(form.is_integer() ? b.i32() : b.f32());
  }
  Value* load(Value* base, int64_t words) const {
    return b.load_raw(sums_type(), b.offset(base, b.f32(), words),
                      4 * b.lanes());
  }
  void store(Value* value, Value* base, int64_t words) const {
    b.store_aligned(value, b.offset(base, b.f32(), words));
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

// Makes a new private function of `b`'s module: void(ptr numbers, ptr...,
// i64...), with `pointers` more pointers and then `integers` i64. `emit` makes
// its body.
llvm::Function* make_winograd_part(
    VectorBuilder& b, const program::WinogradForm& form, const char* name,
    int pointers, int integers,
    llvm::function_ref<void(const WinogradPart&)> emit);

// void(ptr numbers, ptr places, ptr inputs): transforms all channels of one
// tile. `places` has the addresses of the tile's pixels, `inputs` is the tile's
// place in the first channel block of the result.
llvm::Function* make_winograd_input(VectorBuilder& b,
                                    const program::WinogradForm& form);

// void(ptr numbers, ptr inputs, ptr weights, ptr sums, ptr ahead): sums over
// the channels for one frequency of a group of tiles. If the form says so, it
// prefetches half as many bytes from `ahead` as it reads of the weights.
llvm::Function* make_winograd_sums(VectorBuilder& b,
                                   const program::WinogradForm& form);

// void(ptr numbers, ptr sums, ptr extras..., ptr outputs..., i64 rows, i64
// columns): transforms the sums of one tile and one panel back, and applies the
// epilogue to `rows` x `columns` pixels. The pointers to operands point to the
// tile's first pixel and the panel's first feature. With `last_panel`, features
// that do not exist are not touched.
llvm::Function* make_winograd_output(VectorBuilder& b,
                                     const program::WinogradForm& form,
                                     bool last_panel);

}  // namespace fxjit::jit
