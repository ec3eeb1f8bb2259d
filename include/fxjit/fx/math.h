// Python's `math` for Values: numbers and tensors of one element are computed,
// proxies recorded ("math.sqrt"), as Tracer wraps that module by default.
// ValueError "math domain error" where Python raises it. Thread-safe.
#pragma once

#include "fxjit/nn/call_arg.h"
#include "fxjit/value.h"

namespace fxjit::fx::math {

inline constexpr double pi = 3.141592653589793;
inline constexpr double e = 2.718281828459045;
inline constexpr double tau = 6.283185307179586;

// Integers.
Value ceil(nn::CallArg x);
Value floor(nn::CallArg x);
Value trunc(nn::CallArg x);
// Numbers.
Value sqrt(nn::CallArg x);
Value exp(nn::CallArg x);
Value expm1(nn::CallArg x);
Value log(nn::CallArg x);
Value log1p(nn::CallArg x);
Value log2(nn::CallArg x);
Value log10(nn::CallArg x);
Value sin(nn::CallArg x);
Value cos(nn::CallArg x);
Value tan(nn::CallArg x);
Value asin(nn::CallArg x);
Value acos(nn::CallArg x);
Value atan(nn::CallArg x);
Value sinh(nn::CallArg x);
Value cosh(nn::CallArg x);
Value tanh(nn::CallArg x);
Value erf(nn::CallArg x);
Value gamma(nn::CallArg x);
Value lgamma(nn::CallArg x);
Value fabs(nn::CallArg x);
Value degrees(nn::CallArg x);
Value radians(nn::CallArg x);
Value pow(nn::CallArg x, nn::CallArg y);
Value atan2(nn::CallArg y, nn::CallArg x);
Value fmod(nn::CallArg x, nn::CallArg y);
Value copysign(nn::CallArg x, nn::CallArg y);
Value hypot(nn::CallArg x, nn::CallArg y);
// Booleans.
Value isnan(nn::CallArg x);
Value isinf(nn::CallArg x);
Value isfinite(nn::CallArg x);

}  // namespace fxjit::fx::math
