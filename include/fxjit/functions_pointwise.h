// torch's elementwise functions, part of fxjit/functions.h. Inputs broadcast
// and are promoted as in PyTorch; integers become float32 where a function has
// no integer result. A trailing argument left at None is not passed on.
#pragma once

#include "fxjit/functions.h"

namespace fxjit {

// Arithmetic. `alpha` multiplies `other` of add and sub; rsub is other - input.
Value add(const Arg& input, const Arg& other, const Arg& alpha = None);
Value sub(const Arg& input, const Arg& other, const Arg& alpha = None);
Value rsub(const Arg& input, const Arg& other);
Value mul(const Arg& input, const Arg& other);
// `rounding_mode`: None for true division, "trunc" for towards zero, "floor"
// for down. floor_divide rounds down.
Value div(const Arg& input, const Arg& other, const Arg& rounding_mode = None);
Value true_divide(const Arg& input, const Arg& other);
Value floor_divide(const Arg& input, const Arg& other);
Value remainder(const Arg& input, const Arg& other);  // Sign of `other`.
Value fmod(const Arg& input, const Arg& other);       // Sign of `input`.
Value pow(const Arg& input, const Arg& exponent);
Value neg(const Arg& input);
Value abs(const Arg& input);
Value sign(const Arg& input);
Value reciprocal(const Arg& input);
Value square(const Arg& input);
Value sqrt(const Arg& input);
Value rsqrt(const Arg& input);
// Bounds; `min` and `max` are numbers or tensors, None for no bound. NaN stays
// NaN.
Value clamp(const Arg& input, const Arg& min = None, const Arg& max = None);
Value clamp_min(const Arg& input, const Arg& min);
Value clamp_max(const Arg& input, const Arg& max);
Value minimum(const Arg& input, const Arg& other);  // NaN if either is NaN.
Value maximum(const Arg& input, const Arg& other);
// input + weight * (end - input).
Value lerp(const Arg& input, const Arg& end, const Arg& weight);
// input + value * tensor1 * tensor2; input + value * tensor1 / tensor2.
Value addcmul(const Arg& input, const Arg& tensor1, const Arg& tensor2,
              const Arg& value = None);
Value addcdiv(const Arg& input, const Arg& tensor1, const Arg& tensor2,
              const Arg& value = None);

// Rounding to integers in the input's dtype; `round` takes ties to even. frac
// is input - trunc(input).
Value floor(const Arg& input);
Value ceil(const Arg& input);
Value round(const Arg& input);
Value trunc(const Arg& input);
Value frac(const Arg& input);

// Exponentials and logarithms.
Value exp(const Arg& input);
Value exp2(const Arg& input);
Value expm1(const Arg& input);
Value log(const Arg& input);
Value log2(const Arg& input);
Value log10(const Arg& input);
Value log1p(const Arg& input);
Value erf(const Arg& input);
Value erfc(const Arg& input);

// Trigonometric and hyperbolic functions, in radians.
Value sin(const Arg& input);
Value cos(const Arg& input);
Value tan(const Arg& input);
Value asin(const Arg& input);
Value acos(const Arg& input);
Value atan(const Arg& input);
Value sinh(const Arg& input);
Value cosh(const Arg& input);
Value asinh(const Arg& input);
Value acosh(const Arg& input);
Value atanh(const Arg& input);
Value tanh(const Arg& input);

// Activations that torch has at top level.
Value sigmoid(const Arg& input);
Value relu(const Arg& input);
Value selu(const Arg& input);
Value prelu(const Arg& input, const Arg& weight);

// Comparisons and predicates; results are bool.
Value eq(const Arg& input, const Arg& other);
Value ne(const Arg& input, const Arg& other);
Value lt(const Arg& input, const Arg& other);
Value le(const Arg& input, const Arg& other);
Value gt(const Arg& input, const Arg& other);
Value ge(const Arg& input, const Arg& other);
Value isnan(const Arg& input);
Value isinf(const Arg& input);
Value isfinite(const Arg& input);

// Logic: logical_ functions on truth values, giving bool; bitwise_ functions on
// the bits of integers, or on bools. Shifts are arithmetic for signed integers.
Value logical_and(const Arg& input, const Arg& other);
Value logical_or(const Arg& input, const Arg& other);
Value logical_xor(const Arg& input, const Arg& other);
Value logical_not(const Arg& input);
Value bitwise_and(const Arg& input, const Arg& other);
Value bitwise_or(const Arg& input, const Arg& other);
Value bitwise_xor(const Arg& input, const Arg& other);
Value bitwise_not(const Arg& input);
Value bitwise_left_shift(const Arg& input, const Arg& other);
Value bitwise_right_shift(const Arg& input, const Arg& other);

// Choice, copies, casts. `where` takes `input` where the bool `condition` is
// true, else `other`; masked_fill puts `value` where the bool `mask` is true.
// The `_like` functions take the shape and, when `dtype` is None, the dtype of
// the input.
Value where(const Arg& condition, const Arg& input, const Arg& other);
Value masked_fill(const Arg& input, const Arg& mask, const Arg& value);
Value clone(const Arg& input);
Value full_like(const Arg& input, const Arg& fill_value,
                const Arg& dtype = None);
Value zeros_like(const Arg& input, const Arg& dtype = None);
Value ones_like(const Arg& input, const Arg& dtype = None);

namespace nn::functional {

// Recorded with every option by keyword, as torch's Python code does.
Value relu(const Arg& input, bool inplace = false);
Value relu6(const Arg& input, bool inplace = false);
Value elu(const Arg& input, double alpha = 1.0, bool inplace = false);
Value selu(const Arg& input, bool inplace = false);
Value celu(const Arg& input, double alpha = 1.0, bool inplace = false);
// `value` where the input is not above `threshold`.
Value threshold(const Arg& input, const Arg& threshold, const Arg& value,
                bool inplace = false);
Value leaky_relu(const Arg& input, double negative_slope = 0.01,
                 bool inplace = false);
Value hardtanh(const Arg& input, double min_val = -1.0, double max_val = 1.0,
               bool inplace = false);
Value hardsigmoid(const Arg& input, bool inplace = false);
Value hardswish(const Arg& input, bool inplace = false);
Value mish(const Arg& input, bool inplace = false);
Value silu(const Arg& input, bool inplace = false);
// The input itself unless `training`. In training each element becomes 0 with
// probability `p`, and the others are divided by 1 - p.
Value dropout(const Arg& input, double p = 0.5, bool training = true,
              bool inplace = false);
Value softsign(const Arg& input);
Value tanhshrink(const Arg& input);

// Recorded with the arguments as given.
Value gelu(const Arg& input, const Arg& approximate = None);  // "none", "tanh"
Value softplus(const Arg& input, const Arg& beta = None,
               const Arg& threshold = None);
Value logsigmoid(const Arg& input);
Value hardshrink(const Arg& input, const Arg& lambd = None);
Value softshrink(const Arg& input, const Arg& lambd = None);
Value prelu(const Arg& input, const Arg& weight);
Value sigmoid(const Arg& input);
Value tanh(const Arg& input);

}  // namespace nn::functional

}  // namespace fxjit
