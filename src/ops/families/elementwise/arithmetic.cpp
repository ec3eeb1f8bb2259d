#include <cmath>

#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/ops/table/op_call.h"
#include "src/ops/table/promote.h"

namespace fxjit::ops {
namespace {

Scalar add(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  if (same(call[2], 1)) return args[0] + args[1];
  return args[0] + args[2] * args[1];
}

// Refuses bools where PyTorch has no kernel for them: `kernel` is its name.
void refuse_bool(Scalar value, const std::string& kernel) {
  if (value.type() == DType::boolean) no_kernel(kernel, value.type());
}

// Differences with a bool tensor are refused as in torch, whatever the other
// is.
void refuse_bool_tensors(const OpCall& call) {
  int bools = 0;
  for (size_t i = 0; i < 2; ++i)
    bools += call[i].is_tensor() ? call.tensor(i).dtype() == DType::boolean
                                 : call[i].is_bool();
  if (bools == 2)
    runtime_error(
        "Subtraction, the `-` operator, with two bool tensors is not "
        "supported. Use the `^` or `logical_xor()` operator instead.");
  if (bools == 1)
    runtime_error(
        "Subtraction, the `-` operator, with a bool tensor is not supported. "
        "If you are trying to invert a mask, use the `~` or `logical_not()` "
        "operator instead.");
}

template <Prim kPrim>
Scalar of_numbers(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  std::string kernel(call.op.name());
  if (kernel.ends_with('_')) kernel.pop_back();
  if (kernel == "floor_divide") kernel = "div_floor";
  refuse_bool(args[0], kernel + "_cpu");
  return b.apply(kPrim, args[0], args[1]);
}

Scalar sub(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  refuse_bool_tensors(call);
  if (same(call[2], 1)) return args[0] - args[1];
  return args[0] - args[2] * args[1];
}

Scalar rsub(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  refuse_bool_tensors(call);
  if (same(call[2], 1)) return args[1] - args[0];
  return args[1] - args[2] * args[0];
}

Scalar neg(ScalarBuilder&, const OpCall&, Inputs in) {
  if (in[0].type() == DType::boolean)
    runtime_error(
        "Negation, the `-` operator, on a bool tensor is not supported. If you "
        "are trying to invert a mask, use the `~` or `logical_not()` operator "
        "instead.");
  return -in[0];
}

enum class Rounding { none, trunc, floor };

Rounding rounding_of(const OpCall& call) {
  if (!call.has(2)) return Rounding::none;
  if (same(call[2], "trunc")) return Rounding::trunc;
  if (same(call[2], "floor")) return Rounding::floor;
  runtime_error(
      "div expected rounding_mode to be one of None, 'trunc', or 'floor' but "
      "found ",
      repr(call[2]));
}

// True division of integers gives floats; rounded division keeps them.
ScalarTypes div_types(const OpCall& call) {
  return rounding_of(call) == Rounding::none ? ScalarTypes::promote_float
                                             : ScalarTypes::promote;
}

Value infer_div(const OpCall& call) {
  return infer_scalar(call, scalar_typing(call, div_types(call)));
}

Scalar div(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const DType type = compute_dtype(scalar_typing(call, div_types(call)).inputs);
  const ScalarArgs args(b, call, in);
  const Scalar x = args.get(0, type), y = args.get(1, type);
  switch (rounding_of(call)) {
    case Rounding::none:
      return x / y;
    case Rounding::trunc:
      return is_floating(type) ? b.apply(Prim::trunc, x / y) : x / y;
    case Rounding::floor:
      refuse_bool(x, "div_floor_cpu");
      return b.apply(Prim::floor_div, x, y);
  }
  return x;
}

// Exponents that are cheaper than a general power; PyTorch picks the same.
Scalar pow_constant(ScalarBuilder& b, Scalar x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (is_floating(x.type())) {
    if (exponent == 0.5) return b.apply(Prim::sqrt, x);
    if (exponent == -0.5) return b.apply(Prim::rsqrt, x);
    if (exponent == -1) return 1.0 / x;
    if (exponent == -2) return 1.0 / (x * x);
  }
  return b.apply(Prim::pow, x, b.constant(exponent, x.type()));
}

Scalar pow(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  const Scalar base = args[0];
  if (!call[1].is_number() && !is_floating(base.type()))
    refuse_bool(base, "pow");
  if (!call[1].is_number()) return b.apply(Prim::pow, base, args[1]);
  if (!is_floating(base.type()) && call.integer(1) < 0)
    runtime_error("Integers to negative integer powers are not allowed.");
  // Of f16 torch takes no roots but C's powers, which differ at -0 and minus
  // infinity.
  const double exponent = call.number(1);
  if (std::abs(exponent) == 0.5 && call[0].is_tensor() &&
      call.tensor(0).dtype() == DType::f16)
    return b.apply(Prim::pow, base, b.constant(exponent, base.type()));
  return pow_constant(b, base, exponent);
}

Scalar sign(ScalarBuilder& b, const OpCall&, Inputs in) {
  const Scalar zero = b.constant_int(0, in[0].type());
  const Scalar above = b.apply(Prim::gt, in[0], zero);
  if (in[0].type() == DType::boolean) return above;
  const Scalar below = b.apply(Prim::lt, in[0], zero);
  return b.cast(above, in[0].type()) - b.cast(below, in[0].type());
}

Scalar reciprocal(ScalarBuilder&, const OpCall&, Inputs in) {
  return 1.0 / in[0];
}

Value infer_positive(const OpCall& call) { return as_meta(call.tensor(0)); }

// A tensor itself; a number by Python's rules.
Value run_positive(const OpCall& call) {
  return call[0].is_tensor() ? call[0] : infer(call);
}

// x ** 2 with an int exponent: bool becomes int64.
Value infer_square(const OpCall& call) {
  ScalarTyping typing = scalar_typing(call);
  if (typing.result == DType::boolean) typing.result = DType::i64;
  return infer_scalar(call, typing);
}

Scalar square(ScalarBuilder& b, const OpCall&, Inputs in) {
  const bool as_int = in[0].type() == DType::boolean;
  const Scalar x = as_int ? b.cast(in[0], DType::i64) : in[0];
  return x * x;
}

// Interpolates from the nearer end, so that weight 1 gives `end` exactly.
Scalar lerp(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  require_floating(
      in[0], call[2].is_number() ? "lerp_kernel_scalar" : "lerp_kernel_tensor");
  const Scalar step = args[1] - args[0];
  const Scalar weight = args[2];
  const Scalar low = args[0] + weight * step;
  const Scalar high = args[1] - step * (1.0 - weight);
  if (call[2].is_number()) return std::abs(call.number(2)) < 0.5 ? low : high;
  const Scalar half = b.constant(0.5, weight.type());
  return b.select(b.apply(Prim::lt, b.apply(Prim::abs, weight), half), low,
                  high);
}

Scalar addcmul(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  if (same(call[3], 1)) return in[0] + in[1] * in[2];
  return in[0] + args[3] * in[1] * in[2];
}

Scalar addcdiv(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  if (!is_floating(in[0].type()))
    runtime_error(
        "Integer division with addcdiv is no longer supported, and in a future "
        " release addcdiv will perform a true division of tensor1 and tensor2. "
        "The historic addcdiv behavior can be implemented as (input + value * "
        "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs "
        "and as (input + value * tensor1 / tensor2) for float inputs. The "
        "future addcdiv behavior is just the latter implementation: (input + "
        "value * tensor1 / tensor2), for all dtypes.");
  if (same(call[3], 1)) return in[0] + in[1] / in[2];
  return in[0] + args[3] * in[1] / in[2];
}

constexpr OpRow kAdd =
    scalar_row("add", "input, other, *, alpha=1",
               "torch.add _operator.add .add .__add__ .__radd__", add)
        .stating({.numbers = {"alpha"}});
constexpr OpRow kSub =
    scalar_row("sub", "input, other, *, alpha=1",
               "torch.sub torch.subtract _operator.sub .sub .subtract .__sub__",
               sub)
        .stating({.numbers = {"alpha"}});
constexpr OpRow kMul = binary_row("mul",
                                  "torch.mul torch.multiply _operator.mul .mul "
                                  ".multiply .__mul__ .__rmul__",
                                  binary<Prim::mul>);
constexpr OpRow kDiv =
    custom_row(
        "div", "input, other, *, rounding_mode=None",
        "torch.div torch.divide torch.true_divide _operator.truediv .div "
        ".divide .true_divide .__truediv__",
        infer_div, div)
        .stating({.native = NativeCalls::quotients});
constexpr OpRow kFloorDivide =
    binary_row(
        "floor_divide",
        "torch.floor_divide _operator.floordiv .floor_divide .__floordiv__",
        of_numbers<Prim::floor_div>)
        .stating({.native = NativeCalls::quotients});
constexpr OpRow kRemainder =
    binary_row("remainder", "torch.remainder _operator.mod .remainder .__mod__",
               of_numbers<Prim::remainder>)
        .stating({.native = NativeCalls::quotients});
constexpr OpRow kFmod =
    binary_row("fmod", "torch.fmod .fmod", of_numbers<Prim::fmod>)
        .stating({.native = NativeCalls::quotients});
Layout layout_of_power(const OpCall& call) {
  return call[0].is_tensor() ? Layout::elementwise : Layout::plain;
}

constexpr OpRow kPow =
    scalar_row("pow", "input, exponent",
               "torch.pow _operator.pow .pow .__pow__", pow)
        .stating({.layout_of = layout_of_power, .numbers = {"exponent other"}});
constexpr OpRow kNeg = unary_row(
    "neg", "torch.neg torch.negative _operator.neg .neg .negative .__neg__",
    neg);
constexpr OpRow kAbs = unary_row(
    "abs", "torch.abs torch.absolute _operator.abs .abs .absolute .__abs__",
    unary<Prim::abs>);
constexpr OpRow kReciprocal =
    unary_row("reciprocal", "torch.reciprocal .reciprocal", reciprocal, kFloat);
constexpr OpRow kSqrt =
    unary_row("sqrt", "torch.sqrt .sqrt", unary<Prim::sqrt>, kFloat);
constexpr OpRow kRsqrt =
    unary_row("rsqrt", "torch.rsqrt .rsqrt", unary<Prim::rsqrt>, kFloat);
constexpr OpRow kSquare = {.name = "square",
                           .schema = "input",
                           .names = "torch.square .square",
                           .lowering = Lowering::scalar,
                           .infer = infer_square,
                           .scalar = square};
constexpr OpRow kLerp =
    scalar_row("lerp", "input, end, weight", "torch.lerp .lerp", lerp);
constexpr OpRow kAddcmul =
    scalar_row("addcmul", "input, tensor1, tensor2, *, value=1",
               "torch.addcmul .addcmul", addcmul)
        .stating({.numbers = {"value", Conversion::computed}});
constexpr OpRow kAddcdiv =
    scalar_row("addcdiv", "input, tensor1, tensor2, *, value=1",
               "torch.addcdiv .addcdiv", addcdiv)
        .stating({.numbers = {"value", Conversion::computed}});

constexpr OpRow kArithmeticRows[] = {
    kAdd,
    kSub,
    scalar_row("rsub", "input, other, *, alpha=1", "torch.rsub .__rsub__", rsub)
        .stating({.layout = Layout::backwards, .numbers = {"alpha"}}),
    kMul,
    kDiv,
    kFloorDivide,
    kRemainder,
    kFmod,
    kPow,
    kNeg,
    {.name = "positive",
     .schema = "input",
     .names = "torch.positive _operator.pos .positive .__pos__",
     .lowering = Lowering::scalar,
     .infer = infer_positive,
     .eager = run_positive,
     .scalar = identity,
     .facts = {.aliasing = Aliasing::always}},
    kAbs,
    unary_row("sign", "torch.sign .sign torch.sgn .sgn", sign),
    kReciprocal,
    kSquare,
    kSqrt,
    kRsqrt,
    kLerp,
    kAddcmul,
    kAddcdiv,
    in_place(kAdd, "add_", ".add_ .__iadd__ _operator.iadd"),
    in_place(kSub, "sub_", ".sub_ .subtract_ .__isub__ _operator.isub"),
    in_place(kMul, "mul_", ".mul_ .multiply_ .__imul__ _operator.imul"),
    in_place(kDiv, "div_",
             ".div_ .divide_ .true_divide_ .__itruediv__ _operator.itruediv"),
    in_place(kFloorDivide, "floor_divide_",
             ".floor_divide_ .__ifloordiv__ _operator.ifloordiv"),
    in_place(kRemainder, "remainder_", ".remainder_ .__imod__ _operator.imod"),
    in_place(kFmod, "fmod_", ".fmod_"),
    in_place(kPow, "pow_", ".pow_ .__ipow__ _operator.ipow"),
    in_place(kNeg, "neg_", "torch.neg_ .neg_ .negative_"),
    in_place(kAbs, "abs_", "torch.abs_ .abs_ .absolute_"),
    in_place(kReciprocal, "reciprocal_", "torch.reciprocal_ .reciprocal_"),
    in_place(kSquare, "square_", "torch.square_ .square_"),
    in_place(kSqrt, "sqrt_", "torch.sqrt_ .sqrt_"),
    in_place(kRsqrt, "rsqrt_", "torch.rsqrt_ .rsqrt_"),
    in_place(kLerp, "lerp_", ".lerp_"),
    in_place(kAddcmul, "addcmul_", ".addcmul_"),
    in_place(kAddcdiv, "addcdiv_", ".addcdiv_"),
};

}  // namespace

std::span<const OpRow> arithmetic_rows() { return kArithmeticRows; }

}  // namespace fxjit::ops
