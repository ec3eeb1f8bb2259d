// Arithmetic, comparisons, logic and casts, element by element.
#include <cmath>
#include <functional>
#include <limits>

#include "src/import/onnx/ops/families.h"
#include "src/import/onnx/tensors.h"

namespace fxjit::onnx {
namespace {

// Before opset 7 the second input broadcasts from `axis` on where `broadcast`
// is set.
std::pair<Value, Value> operands(Call& call) {
  const Value a = call[0];
  Value b = call[1];
  if (call.opset() >= 7 || !call.flag("broadcast", false) ||
      !call.has_attribute("axis"))
    return {a, b};
  const int64_t rank = call.rank(0);
  const int64_t axis = call.wrap(call.integer("axis"), rank);
  for (int64_t d = axis + call.rank(1); d < rank; ++d) b = unsqueeze(b, -1);
  return {a, b};
}

template <Value (*kFunction)(const Arg&, const Arg&)>
Results binary(Call& call) {
  const auto [a, b] = operands(call);
  return kFunction(a, b);
}

// As numbers are in a program of PyTorch: a constant of one element, which
// changes neither the type nor the rank of the result.
std::pair<Value, Value> plain_operands(Call& call) {
  auto [a, b] = operands(call);
  if (const auto number = plain_number(call, b, a)) return {a, *number};
  if (const auto number = plain_number(call, a, b)) return {*number, b};
  return {a, b};
}

template <typename Operator, Value (*kFunction)(const Arg&, const Arg&)>
Results arithmetic(Call& call) {
  const auto [a, b] = plain_operands(call);
  if (a.is_number() || b.is_number()) return Operator()(a, b);
  return kFunction(a, b);
}

Value add_of(const Arg& a, const Arg& b) { return add(a, b); }
Value sub_of(const Arg& a, const Arg& b) { return sub(a, b); }

// Any number of inputs, two by two; those that are numbers bound the others.
template <Value (*kFunction)(const Arg&, const Arg&), size_t kBound>
Results bounded(Call& call) {
  Value result = call[0];
  for (size_t i = 1; i < call.inputs(); ++i) {
    const auto number = plain_number(call, call[i], result);
    ValueList bounds = {result, None, None};
    if (number) bounds[kBound] = *number;
    result = number ? function("torch.clamp", std::move(bounds))
                    : kFunction(result, call[i]);
  }
  return result;
}

Results div(Call& call) {
  const auto [a, b] = plain_operands(call);
  if (a.is_number() || b.is_number()) return a / b;
  if (is_floating(call.dtype(0)) || is_complex(call.dtype(0)))
    return function("torch.div", {a, b});
  return function("torch.div", {a, b}, {{"rounding_mode", "trunc"}});
}

Results mod(Call& call) {
  if (call.flag("fmod", false)) return fmod(call[0], call[1]);
  return remainder(call[0], call[1]);
}

// A power_like_c by 0.5 or -0.5 is C's, which differs from the root that torch
// takes: of -0 it is that of +0, of minus infinity that of infinity.
Value power_like_c(const Arg& base, const Value& exponent) {
  const bool is_real = exponent.is_float();
  const double half = is_real ? exponent.as_double() : 0;
  if (half != 0.5 && half != -0.5) return fxjit::pow(base, exponent);
  const Value least = -std::numeric_limits<double>::infinity();
  const Value sum = add(base, 0.0);
  if (half == 0.5)
    return where(eq(base, least), std::numeric_limits<double>::infinity(),
                 fxjit::sqrt(sum));
  return where(eq(base, least), 0.0, fxjit::rsqrt(sum));
}

// The result has the type of the base.
Results pow(Call& call) {
  const auto [a, b] = operands(call);
  const DType base = call.dtype(0), exponent = call.dtype(1);
  if (is_integral(base) && is_floating(exponent))
    return cast(call, pow(cast(call, a, DType::f64), b), base);
  const auto number = plain_number(call, b, a);
  return cast(call, power_like_c(a, number.value_or(b)), base);
}

Results sign_of(Call& call) {
  if (!is_floating(call.dtype(0))) return sign(call[0]);
  return where(isnan(call[0]), call[0], sign(call[0]));
}

// Any number of inputs, two by two.
template <Value (*kFunction)(const Arg&, const Arg&)>
Results fold(Call& call) {
  Value result = call[0];
  for (size_t i = 1; i < call.inputs(); ++i)
    result = kFunction(result, call[i]);
  return result;
}

Results mean(Call& call) {
  const Value sum = fold<add_of>(call).items[0].value;
  return function("torch.div", {sum, static_cast<double>(call.inputs())});
}

DType target_type(const Call& call, int64_t number) {
  const auto dtype = find_dtype(number);
  if (!dtype)
    call.fail("attribute to: " + element_type_name(number) +
              " is not supported");
  return *dtype;
}

// Files of opset 1 to 5 name the type.
Results cast_to(Call& call) {
  if (call.opset() < 6) {
    const auto named = element_type_of(call.text("to", ""));
    if (!named) call.fail("attribute to: there is no such type");
    return cast(call, call[0], target_type(call, *named));
  }
  return cast(call, call[0], target_type(call, call.integer("to")));
}

Results cast_like(Call& call) { return cast(call, call[0], call.dtype(1)); }

// Integers of one size differ by how their first bit counts.
Results bit_cast(Call& call) {
  const int64_t named = call.integer("to");
  const int bits =
      std::max<int>(call.unsigned_bits(0), unsigned_bits_of(named));
  if (bits == 16 || bits == 32) {
    const int64_t half = int64_t{1} << (bits - 1);
    const DType wide = DType::i64;
    const Value x = cast(call, call[0], wide);
    const bool to_unsigned = unsigned_bits_of(named) != 0;
    const Value moved = to_unsigned ? bitwise_and(x, 2 * half - 1)
                                    : where(x >= half, x - 2 * half, x);
    if (!is_integral(call.dtype(0)) || !is_integral(target_type(call, named)))
      call.fail("bits of real numbers as unsigned ones are not supported");
    return cast(call, moved, target_type(call, named));
  }
  return method(call[0], "view", {target_type(call, call.integer("to"))});
}

Results clip_6(Call& call) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return clamp(call[0], call.real("min", -kMost), call.real("max", kMost));
}

// The upper bound counts where it is below the lower one.
Results clip(Call& call) {
  Value result = call[0];
  const auto low = call.has(1) ? plain_number(call, call[1], result)
                               : std::optional<Value>();
  const auto high = call.has(2) ? plain_number(call, call[2], result)
                                : std::optional<Value>();
  if (low && high) return clamp(result, *low, *high);
  if (call.has(1))
    result = low ? clamp(result, *low) : maximum(result, call[1]);
  if (call.has(2))
    result = high ? clamp(result, None, *high) : minimum(result, call[2]);
  return result;
}

Results is_inf(Call& call) {
  const bool negative = call.flag("detect_negative", true);
  const bool positive = call.flag("detect_positive", true);
  if (negative && positive) return isinf(call[0]);
  if (negative) return function("torch.isneginf", {call[0]});
  if (positive) return function("torch.isposinf", {call[0]});
  return zeros_like(call[0], DType::boolean);
}

Results bit_shift(Call& call) {
  const bool left = call.text("direction", "") == "LEFT";
  return left ? bitwise_left_shift(call[0], call[1])
              : bitwise_right_shift(call[0], call[1]);
}

Results identity(Call& call) { return call.operand(0); }

constexpr OpRow kPointwiseOps[] = {
    {.op = "Abs", .function = "torch.abs"},
    {.op = "Acos", .function = "torch.acos"},
    {.op = "Acosh", .function = "torch.acosh"},
    {.op = "Add", .run = arithmetic<std::plus<>, add_of>},
    {.op = "And", .run = binary<logical_and>},
    {.op = "Asin", .function = "torch.asin"},
    {.op = "Asinh", .function = "torch.asinh"},
    {.op = "Atan", .function = "torch.atan"},
    {.op = "Atanh", .function = "torch.atanh"},
    {.op = "BitCast", .since = 26, .run = bit_cast},
    {.op = "BitShift", .since = 11, .run = bit_shift},
    {.op = "BitwiseAnd", .since = 18, .function = "torch.bitwise_and"},
    {.op = "BitwiseNot", .since = 18, .function = "torch.bitwise_not"},
    {.op = "BitwiseOr", .since = 18, .function = "torch.bitwise_or"},
    {.op = "BitwiseXor", .since = 18, .function = "torch.bitwise_xor"},
    {.op = "Cast", .run = cast_to},
    {.op = "CastLike", .since = 15, .run = cast_like},
    {.op = "Ceil", .function = "torch.ceil"},
    {.op = "Clip", .run = clip_6},
    {.op = "Clip", .since = 11, .run = clip},
    {.op = "Cos", .function = "torch.cos"},
    {.op = "Cosh", .function = "torch.cosh"},
    {.op = "Div", .run = div},
    {.op = "Equal", .run = binary<eq>},
    {.op = "Erf", .since = 9, .function = "torch.erf"},
    {.op = "Exp", .function = "torch.exp"},
    {.op = "Floor", .function = "torch.floor"},
    {.op = "Greater", .run = binary<gt>},
    {.op = "GreaterOrEqual", .since = 12, .run = binary<ge>},
    {.op = "Identity", .run = identity},
    {.op = "IsInf", .since = 10, .run = is_inf},
    {.op = "IsNaN", .since = 9, .function = "torch.isnan"},
    {.op = "Less", .run = binary<lt>},
    {.op = "LessOrEqual", .since = 12, .run = binary<le>},
    {.op = "Log", .function = "torch.log"},
    {.op = "Max", .run = bounded<maximum, 1>},
    {.op = "Mean", .run = mean},
    {.op = "Min", .run = bounded<minimum, 2>},
    {.op = "Mod", .since = 10, .run = mod},
    {.op = "Mul", .run = arithmetic<std::multiplies<>, fxjit::mul>},
    {.op = "Neg", .function = "torch.neg"},
    {.op = "Not", .function = "torch.logical_not"},
    {.op = "Or", .run = binary<logical_or>},
    {.op = "Pow", .run = pow},
    {.op = "Reciprocal", .function = "torch.reciprocal"},
    {.op = "Round", .since = 11, .function = "torch.round"},
    {.op = "Sign", .since = 9, .run = sign_of},
    {.op = "Sin", .function = "torch.sin"},
    {.op = "Sinh", .since = 9, .function = "torch.sinh"},
    {.op = "Sqrt", .function = "torch.sqrt"},
    {.op = "Sub", .run = arithmetic<std::minus<>, sub_of>},
    {.op = "Sum", .run = fold<add_of>},
    {.op = "Tan", .function = "torch.tan"},
    {.op = "Tanh", .function = "torch.tanh"},
    {.op = "Where", .since = 9, .function = "torch.where"},
    {.op = "Xor", .run = binary<logical_xor>},
};

}  // namespace

std::span<const OpRow> pointwise_rows() { return kPointwiseOps; }

}  // namespace fxjit::onnx
