#include "fxjit/functions_pointwise.h"

#include "src/ops/functions/call.h"

namespace fxjit {

using functions::call;
using functions::call_typed;
using functions::call_with;

Value add(const Arg& input, const Arg& other, const Arg& alpha) {
  return call_with("torch.add", {input, other}, {{"alpha", alpha}});
}
Value sub(const Arg& input, const Arg& other, const Arg& alpha) {
  return call_with("torch.sub", {input, other}, {{"alpha", alpha}});
}
Value rsub(const Arg& input, const Arg& other) {
  return call("torch.rsub", {input, other});
}
Value mul(const Arg& input, const Arg& other) {
  return call("torch.mul", {input, other});
}
Value div(const Arg& input, const Arg& other, const Arg& rounding_mode) {
  return call_with("torch.div", {input, other},
                   {{"rounding_mode", rounding_mode}});
}
Value true_divide(const Arg& input, const Arg& other) {
  return call("torch.true_divide", {input, other});
}
Value floor_divide(const Arg& input, const Arg& other) {
  return call("torch.floor_divide", {input, other});
}
Value remainder(const Arg& input, const Arg& other) {
  return call("torch.remainder", {input, other});
}
Value fmod(const Arg& input, const Arg& other) {
  return call("torch.fmod", {input, other});
}
Value pow(const Arg& input, const Arg& exponent) {
  return call("torch.pow", {input, exponent});
}
Value neg(const Arg& input) { return call("torch.neg", {input}); }
Value abs(const Arg& input) { return call("torch.abs", {input}); }
Value sign(const Arg& input) { return call("torch.sign", {input}); }
Value reciprocal(const Arg& input) { return call("torch.reciprocal", {input}); }
Value square(const Arg& input) { return call("torch.square", {input}); }
Value sqrt(const Arg& input) { return call("torch.sqrt", {input}); }
Value rsqrt(const Arg& input) { return call("torch.rsqrt", {input}); }
Value clamp(const Arg& input, const Arg& min, const Arg& max) {
  return call("torch.clamp", {input, min, max});
}
Value clamp_min(const Arg& input, const Arg& min) {
  return call("torch.clamp_min", {input, min});
}
Value clamp_max(const Arg& input, const Arg& max) {
  return call("torch.clamp_max", {input, max});
}
Value minimum(const Arg& input, const Arg& other) {
  return call("torch.minimum", {input, other});
}
Value maximum(const Arg& input, const Arg& other) {
  return call("torch.maximum", {input, other});
}
Value lerp(const Arg& input, const Arg& end, const Arg& weight) {
  return call("torch.lerp", {input, end, weight});
}
Value addcmul(const Arg& input, const Arg& tensor1, const Arg& tensor2,
              const Arg& value) {
  return call_with("torch.addcmul", {input, tensor1, tensor2},
                   {{"value", value}});
}
Value addcdiv(const Arg& input, const Arg& tensor1, const Arg& tensor2,
              const Arg& value) {
  return call_with("torch.addcdiv", {input, tensor1, tensor2},
                   {{"value", value}});
}
Value floor(const Arg& input) { return call("torch.floor", {input}); }
Value ceil(const Arg& input) { return call("torch.ceil", {input}); }
Value round(const Arg& input) { return call("torch.round", {input}); }
Value trunc(const Arg& input) { return call("torch.trunc", {input}); }
Value frac(const Arg& input) { return call("torch.frac", {input}); }
Value exp(const Arg& input) { return call("torch.exp", {input}); }
Value exp2(const Arg& input) { return call("torch.exp2", {input}); }
Value expm1(const Arg& input) { return call("torch.expm1", {input}); }
Value log(const Arg& input) { return call("torch.log", {input}); }
Value log2(const Arg& input) { return call("torch.log2", {input}); }
Value log10(const Arg& input) { return call("torch.log10", {input}); }
Value log1p(const Arg& input) { return call("torch.log1p", {input}); }
Value erf(const Arg& input) { return call("torch.erf", {input}); }
Value erfc(const Arg& input) { return call("torch.erfc", {input}); }
Value sin(const Arg& input) { return call("torch.sin", {input}); }
Value cos(const Arg& input) { return call("torch.cos", {input}); }
Value tan(const Arg& input) { return call("torch.tan", {input}); }
Value asin(const Arg& input) { return call("torch.asin", {input}); }
Value acos(const Arg& input) { return call("torch.acos", {input}); }
Value atan(const Arg& input) { return call("torch.atan", {input}); }
Value sinh(const Arg& input) { return call("torch.sinh", {input}); }
Value cosh(const Arg& input) { return call("torch.cosh", {input}); }
Value asinh(const Arg& input) { return call("torch.asinh", {input}); }
Value acosh(const Arg& input) { return call("torch.acosh", {input}); }
Value atanh(const Arg& input) { return call("torch.atanh", {input}); }
Value tanh(const Arg& input) { return call("torch.tanh", {input}); }
Value sigmoid(const Arg& input) { return call("torch.sigmoid", {input}); }
Value relu(const Arg& input) { return call("torch.relu", {input}); }
Value selu(const Arg& input) { return call("torch.selu", {input}); }
Value prelu(const Arg& input, const Arg& weight) {
  return call("torch.prelu", {input, weight});
}
Value eq(const Arg& input, const Arg& other) {
  return call("torch.eq", {input, other});
}
Value ne(const Arg& input, const Arg& other) {
  return call("torch.ne", {input, other});
}
Value lt(const Arg& input, const Arg& other) {
  return call("torch.lt", {input, other});
}
Value le(const Arg& input, const Arg& other) {
  return call("torch.le", {input, other});
}
Value gt(const Arg& input, const Arg& other) {
  return call("torch.gt", {input, other});
}
Value ge(const Arg& input, const Arg& other) {
  return call("torch.ge", {input, other});
}
Value isnan(const Arg& input) { return call("torch.isnan", {input}); }
Value isinf(const Arg& input) { return call("torch.isinf", {input}); }
Value isfinite(const Arg& input) { return call("torch.isfinite", {input}); }
Value logical_and(const Arg& input, const Arg& other) {
  return call("torch.logical_and", {input, other});
}
Value logical_or(const Arg& input, const Arg& other) {
  return call("torch.logical_or", {input, other});
}
Value logical_xor(const Arg& input, const Arg& other) {
  return call("torch.logical_xor", {input, other});
}
Value logical_not(const Arg& input) {
  return call("torch.logical_not", {input});
}
Value bitwise_and(const Arg& input, const Arg& other) {
  return call("torch.bitwise_and", {input, other});
}
Value bitwise_or(const Arg& input, const Arg& other) {
  return call("torch.bitwise_or", {input, other});
}
Value bitwise_xor(const Arg& input, const Arg& other) {
  return call("torch.bitwise_xor", {input, other});
}
Value bitwise_not(const Arg& input) {
  return call("torch.bitwise_not", {input});
}
Value bitwise_left_shift(const Arg& input, const Arg& other) {
  return call("torch.bitwise_left_shift", {input, other});
}
Value bitwise_right_shift(const Arg& input, const Arg& other) {
  return call("torch.bitwise_right_shift", {input, other});
}
Value where(const Arg& condition, const Arg& input, const Arg& other) {
  return call("torch.where", {condition, input, other});
}
Value masked_fill(const Arg& input, const Arg& mask, const Arg& value) {
  return call("torch.masked_fill", {input, mask, value});
}
Value clone(const Arg& input) { return call("torch.clone", {input}); }
Value full_like(const Arg& input, const Arg& fill_value, const Arg& dtype) {
  return call_typed("torch.full_like", {input, fill_value}, dtype);
}
Value zeros_like(const Arg& input, const Arg& dtype) {
  return call_typed("torch.zeros_like", {input}, dtype);
}
Value ones_like(const Arg& input, const Arg& dtype) {
  return call_typed("torch.ones_like", {input}, dtype);
}

}  // namespace fxjit
