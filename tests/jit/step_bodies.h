// Bodies and steps that the tests of row and column steps are made of.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "src/program/steps/steps.h"

namespace fxjit::jit::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Scalar apply(Prim prim, Scalar x);
Scalar apply(Prim prim, Scalar x, Scalar y);
Scalar sum(Scalar x);  // Along the row.

Scalar softmax(Scalar x);
// Less the mean, over the deviation, of a row of n elements.
Scalar normalised(Scalar x, int64_t n);

// `rows` contiguous rows of one f32 input and one f32 output.
program::RowStep simple_rows(int64_t rows, int64_t inner, ScalarBody body);

// All sizes around vectors and unrolled loops.
std::vector<int64_t> row_sizes();

}  // namespace fxjit::jit::testing
