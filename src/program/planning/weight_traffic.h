// What a program reads of weights in each call, to know which cache they come
// from.
#pragma once

#include <cstdint>

#include "src/passes/model_graph.h"

namespace fxjit::program {

// Bytes, as f32, of the constant matrices that products of at most `rows` rows
// read, each counted once.
int64_t few_row_weight_bytes(const passes::ModelGraph& model, int64_t rows);

}  // namespace fxjit::program
