// How much of a row is emitted side by side: unrolling and short rows. Used by
// the row skeleton only.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/emit/vector_builder.h"
#include "src/program/rows/form.h"

namespace fxjit::jit {

// Instructions that a pass computes or loads for each vector, in order.
std::vector<int32_t> pass_instructions(const program::RowForm& form,
                                       size_t pass);

// Vectors per iteration of a pass's loop: enough to hide the latency of light
// bodies, one for those that fill the machine by themselves.
int row_unroll(const VectorBuilder& b, const program::RowForm& form,
               size_t pass);

// Whether a pass computes for tens of cycles per vector.
bool is_heavy(const program::RowForm& form, size_t pass);

// Rows of few vectors and small bodies are straight-line code.
bool is_short_row(const VectorBuilder& b, const program::RowForm& form);

}  // namespace fxjit::jit
