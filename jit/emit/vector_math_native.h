// The cores of the inlined f32 functions, on exactly one machine vector
// (b.lanes() floats). Used by vector_math.cpp only, which brings other widths
// to this one.
#pragma once

#include "jit/emit/math_tables.h"
#include "jit/emit/vector_builder.h"

namespace fxjit::jit::native {

// Whether exp's argument needs clamping: one that is never above 88 does not.
enum class ExpRange { any, not_positive };
// That of softmax flushes results that are not normal to zero: they would slow
// down each product with them.
enum class ExpAccuracy { full, softmax };

Value* exp(VectorBuilder& b, Value* x, ExpRange range = ExpRange::any,
           ExpAccuracy accuracy = ExpAccuracy::full);
// (1 + e^-x) / 2, within a rounding of the exact number; infinity where e^-x
// is. Not for AVX-512.
Value* half_plus_exp(VectorBuilder& b, Value* x);
Value* expm1(VectorBuilder& b, Value* x);
Value* log(VectorBuilder& b, Value* x);

// What becomes of NaN: it stays, or gives any finite value.
enum class NanResult { keep, lose };

// table(min(|x|, last interval)). Tables of 32 entries need b.long_tables().
template <int kEntries, int kDegree>
Value* smooth(VectorBuilder& b, Value* x,
              const SmoothTable<kEntries, kDegree>& table, NanResult nan);

// tanh(x) = dividend / divisor, the divisor in [1, 420]; NaN stays NaN.
struct TanhRatio {
  Value* dividend;
  Value* divisor;
};
TanhRatio tanh_ratio(VectorBuilder& b, Value* x);

// x where x > 0, zero of x's sign below, NaN for minus infinity (0 * inf).
Value* relu_by_product(VectorBuilder& b, Value* x);

}  // namespace fxjit::jit::native
