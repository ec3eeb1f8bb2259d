// Smooth functions on vectors: inlined tables and polynomials for f32, calls
// to libm per lane for the rest. Used by the code skeletons; knows no ops.
//
// Arguments are f32 or f64 scalars or vectors of any power-of-two lane count.
// NaN, infinities, signed zeros and denormals come out as from PyTorch on CPU,
// where a function does not say otherwise.
#pragma once

#include <limits>
#include <string_view>

#include "jit/emit/vector_builder.h"

namespace fxjit::jit {

Value* emit_exp(VectorBuilder& b, Value* x);
// Faster, for arguments at or below zero as softmax has them: the relative
// error grows to 1e-6 towards -87, results below 8e-39 are 0, and other denormal
// ones may be. Minus infinity gives 0, NaN stays NaN.
Value* emit_exp_softmax(VectorBuilder& b, Value* x);
Value* emit_log(VectorBuilder& b, Value* x);
Value* emit_expm1(VectorBuilder& b, Value* x);  // e^x - 1, exact near zero.
Value* emit_log1p(VectorBuilder& b, Value* x);  // log(1 + x), exact near zero.
Value* emit_sigmoid(VectorBuilder& b, Value* x);
Value* emit_silu(VectorBuilder& b, Value* x);
// factor * sigmoid(x) as one quotient.
Value* emit_sigmoid_product(VectorBuilder& b, Value* factor, Value* x);
// tanh(x) * sigmoid(y) as one quotient.
Value* emit_gate(VectorBuilder& b, Value* x, Value* y);
Value* emit_tanh(VectorBuilder& b, Value* x);
Value* emit_erf(VectorBuilder& b, Value* x);
Value* emit_gelu(VectorBuilder& b, Value* x);       // x * Phi(x)
Value* emit_gelu_tanh(VectorBuilder& b, Value* x);  // The tanh approximation.
Value* emit_rsqrt(VectorBuilder& b, Value* x);  // 1 / sqrt(x), two roundings.

// Functions of libm, called per lane (by its double-precision name: "sin",
// "sinh", "pow"; see runtime_symbol() for those that link).
Value* emit_libm(VectorBuilder& b, std::string_view name, const Values& args);

// The accuracy of an inlined f32 function, the same at every CPU level: within
// `ulp` units in the last place of the true value where its magnitude is at
// least `from`, else within `absolute`.
struct MathBound {
  const char* name;  // As in emit_<name>.
  double ulp;
  double from;
  double absolute;
  double highest;  // Greatest argument that it holds for.
  Value* (*emit)(VectorBuilder& b, Value* x);  // Null where it takes two.
};

inline constexpr double kAnyArgument = std::numeric_limits<double>::infinity();

// All inlined functions; the tests sweep each row. Where e^-x overflows,
// sigmoid and silu are zero, as PyTorch's. A gate is within the sum of what
// its two functions are allowed.
inline constexpr MathBound kMathBounds[] = {
    {"exp", 2, 0, 0, kAnyArgument, emit_exp},
    {"exp_softmax", 12, 1.2e-38, 1.2e-38, 0, emit_exp_softmax},
    {"log", 1.5, 0, 0, kAnyArgument, emit_log},
    {"expm1", 2, 0, 0, kAnyArgument, emit_expm1},
    {"log1p", 2.5, 0, 0, kAnyArgument, emit_log1p},
    {"sigmoid", 4, 1.2e-38, 1.2e-38, kAnyArgument, emit_sigmoid},
    {"silu", 4, 1e-36, 1e-36, kAnyArgument, emit_silu},
    {"gate", 8, 1.3e-36, 1.3e-36, kAnyArgument, nullptr},
    {"tanh", 4, 0, 0, kAnyArgument, emit_tanh},
    {"erf", 3, 0, 0, kAnyArgument, emit_erf},
    {"gelu", 2, 0.1, 3e-7, kAnyArgument, emit_gelu},
    {"gelu_tanh", 2, 0.1, 3e-7, kAnyArgument, emit_gelu_tanh},
    {"rsqrt", 1.5, 0, 0, kAnyArgument, emit_rsqrt},
};

}  // namespace fxjit::jit
