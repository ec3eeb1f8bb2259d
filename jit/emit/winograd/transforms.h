// The transforms of F(2, 3) and F(4, 3) on vectors; see
// program/winograd/shape.h for the points. Private to jit/emit/winograd*.
#pragma once

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

// Transforms (tile + 2) x (tile + 2) inputs into as many numbers. Groups of
// rows load the inputs again by `load`, because the registers cannot hold all
// of them; the calls of `store` in between keep LLVM from merging these loads.
void emit_winograd_input(
    VectorBuilder& b, int64_t tile,
    llvm::function_ref<Value*(int row, int column)> load,
    llvm::function_ref<void(int row, int column, Value*)> store);

// Transforms (tile + 2) x (tile + 2) sums back into tile x tile results,
// likewise.
void emit_winograd_output(
    VectorBuilder& b, int64_t tile,
    llvm::function_ref<Value*(int row, int column)> load,
    llvm::function_ref<void(int row, int column, Value*)> store);

}  // namespace fxjit::jit
