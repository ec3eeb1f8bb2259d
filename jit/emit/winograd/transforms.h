// The one-dimensional transforms of F(2, 3) and F(4, 3) on vectors; see
// program/winograd/shape.h for the points. Private to jit/emit/winograd*.
#pragma once

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

// Rows of the transformed input that are made together: as many as the
// registers of a level hold for all columns, rows that share work side by side.
std::vector<std::vector<int>> winograd_input_groups(int64_t tile,
                                                    CpuLevel level);
// The same for rows of the result.
std::vector<std::vector<int>> winograd_output_groups(int64_t tile,
                                                     CpuLevel level);

// Elements `rows` of the transform of `tile + 2` inputs. Loads what is needed
// only, by `input`, each at most once.
Values winograd_input(VectorBuilder& b, int64_t tile,
                      const std::vector<int>& rows,
                      llvm::function_ref<Value*(int)> input);

// Elements `rows` of the back transform of `tile + 2` sums, likewise.
Values winograd_output(VectorBuilder& b, int64_t tile,
                       const std::vector<int>& rows,
                       llvm::function_ref<Value*(int)> sum);

}  // namespace fxjit::jit
