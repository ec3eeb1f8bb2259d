// The transforms of F(2, 3) and F(4, 3) on vectors; see
// program/winograd/shape.h for the points. Private to jit/emit/winograd*.
#pragma once

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

// The transform of `tile + 2` times as many inputs. Groups of rows load the
// input again, by `load`, rather than keep more than the registers hold; what
// `store` does between them keeps LLVM from joining them.
void emit_winograd_input(
    VectorBuilder& b, int64_t tile,
    llvm::function_ref<Value*(int row, int column)> load,
    llvm::function_ref<void(int row, int column, Value*)> store);

// The back transform of `tile + 2` times as many sums, likewise.
void emit_winograd_output(
    VectorBuilder& b, int64_t tile,
    llvm::function_ref<Value*(int row, int column)> load,
    llvm::function_ref<void(int row, int column, Value*)> store);

}  // namespace fxjit::jit
