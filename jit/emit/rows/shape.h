// Decides how many vectors of a row are emitted side by side: unrolling, and
// straight-line code for short rows. Used by the row skeleton only.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/emit/vector_builder.h"
#include "src/program/rows/form.h"

namespace fxjit::jit {

// The instructions that a pass computes or loads for each vector, in order.
std::vector<int32_t> pass_instructions(const program::RowForm& form,
                                       size_t pass);

// Vectors in one iteration of a pass's loop. They are enough to hide the
// latency of cheap bodies; an expensive body fills the processor with one.
int row_unroll(const VectorBuilder& b, const program::RowForm& form,
               size_t pass);

// Whether a pass computes for tens of cycles on each vector.
bool is_heavy(const program::RowForm& form, size_t pass);

// Whether a row has so few vectors, and the body so few operations, that it
// becomes straight-line code.
bool is_short_row(const VectorBuilder& b, const program::RowForm& form);

// How many neighbouring rows go through each pass before the next one begins,
// so that no row waits for the sum of the one before; 1: each row goes through
// all passes. Without AVX-512 the processor looks ahead by less than a row.
int64_t rows_by_turns(const VectorBuilder& b, const program::RowForm& form);

}  // namespace fxjit::jit
