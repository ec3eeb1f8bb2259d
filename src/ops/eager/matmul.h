// The product behind every eager contraction: what the backend has
// for it (backend.h), or a plain loop. The contraction family calls run_matmul.
#pragma once

#include <cstdint>

#include "fxjit/dtype.h"

namespace fxjit::ops {

// c[b, m, n] = sum_k a[b, m, k] * b[b, k, n] (+ bias[n]). Strides are in
// elements and may be zero or negative.
struct MatmulSizes {
  DType dtype = DType::f32;  // Of all operands.
  int64_t batch = 1, rows = 0, columns = 0, depth = 0;
  int64_t a_batch = 0, a_row = 0, a_depth = 1;
  int64_t b_batch = 0, b_depth = 0, b_column = 1;
  int64_t c_batch = 0, c_row = 0;  // Columns are contiguous.
};

struct MatmulArgs : MatmulSizes {
  const void *a = nullptr, *b = nullptr;
  void* c = nullptr;           // Written, never read.
  const void* bias = nullptr;  // Null, or one element per column.
  int64_t bias_stride = 1;
};

// The backend's function, or else the plain loop: float accumulation for f32
// and the half types, wrapping for integers, `or` of `and`s for bool.
void run_matmul(const MatmulArgs& args);

// The plain loop, also for comparison with others.
void plain_matmul(const MatmulArgs& args);

}  // namespace fxjit::ops
