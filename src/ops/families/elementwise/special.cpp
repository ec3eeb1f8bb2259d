// Elementwise functions that models use now and then: angles, logarithms of
// sums, what replaces NaN.
#include <cmath>

#include "fxjit/functions_pointwise.h"
#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/numbers.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"
#include "src/ops/table/number_range.h"

namespace fxjit::ops {
namespace {

Scalar number(ScalarBuilder& b, double value, Scalar like) {
  return b.constant(value, like.type());
}

Scalar less(ScalarBuilder& b, Scalar x, double limit) {
  return b.apply(Prim::lt, x, number(b, limit, x));
}

Scalar equal(ScalarBuilder& b, Scalar x, double value) {
  return b.apply(Prim::eq, x, number(b, value, x));
}

// Below zero, or -0.
Scalar has_sign(ScalarBuilder& b, Scalar x) {
  return b.apply(
      Prim::bit_or, less(b, x, 0),
      b.apply(Prim::bit_and, equal(b, x, 0), equal(b, 1.0 / x, -kInfinity)));
}

// The angle of the lesser over the greater side, then the other octants.
Scalar atan2(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  const Scalar y = args[0], x = args[1];
  const Scalar height = b.apply(Prim::abs, y), width = b.apply(Prim::abs, x);
  const Scalar most = b.apply(Prim::maximum, height, width);
  const Scalar least = b.apply(Prim::minimum, height, width);
  const Scalar ratio =
      b.select(equal(b, most, 0), least,
               b.select(b.apply(Prim::eq, least, number(b, kInfinity, x)),
                        number(b, 1, x), least / most));
  Scalar angle = b.apply(Prim::atan, ratio);
  angle = b.select(b.apply(Prim::gt, height, width), kPi / 2 - angle, angle);
  angle = b.select(has_sign(b, x), kPi - angle, angle);
  return b.select(has_sign(b, y), -angle, angle);
}

Scalar hypot(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  require_floating(args[0], "hypot_cpu");
  const Scalar x = b.apply(Prim::abs, args[0]);
  const Scalar y = b.apply(Prim::abs, args[1]);
  const Scalar most = b.apply(Prim::maximum, x, y);
  const Scalar ratio = b.apply(Prim::minimum, x, y) / most;
  const Scalar length = most * b.apply(Prim::sqrt, ratio * ratio + 1.0);
  const Scalar endless =
      b.apply(Prim::bit_or, equal(b, x, kInfinity), equal(b, y, kInfinity));
  return b.select(endless, number(b, kInfinity, most),
                  b.select(equal(b, most, 0), most, length));
}

Scalar log_of_sum(ScalarBuilder& b, Scalar x, Scalar y, bool binary) {
  const Scalar high = b.apply(Prim::maximum, x, y);
  const Scalar low = b.apply(Prim::minimum, x, y);
  const Scalar power = b.apply(binary ? Prim::exp2 : Prim::exp, low - high);
  Scalar rest = b.apply(Prim::log1p, power);
  if (binary) rest = rest / std::log(2.0);
  // Infinities of one sign would be subtracted.
  return b.select(equal(b, b.apply(Prim::abs, high), kInfinity), high,
                  high + rest);
}

template <bool kBinary>
Scalar logaddexp(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  require_floating(args[0], "logaddexp_cpu");
  return log_of_sum(b, args[0], args[1], kBinary);
}

Scalar xlogy(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  const Scalar x = args[0], y = args[1];
  const Scalar product = x * b.apply(Prim::log, y);
  const Scalar known = b.apply(Prim::eq, y, y);
  return b.select(b.apply(Prim::bit_and, equal(b, x, 0), known),
                  number(b, 0, x), b.select(known, product, y));
}

Scalar logit(ScalarBuilder& b, const OpCall& call, Inputs in) {
  Scalar x = in[0];
  if (call.has(1)) {
    const double eps = call.number(1);
    x = b.apply(Prim::minimum, b.apply(Prim::maximum, x, number(b, eps, x)),
                number(b, 1 - eps, x));
  }
  return b.apply(Prim::log, x / (1.0 - x));
}

Scalar copysign(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  const Scalar size = b.apply(Prim::abs, args[0]);
  return b.select(has_sign(b, args[1]), -size, size);
}

// The other one where one is NaN.
template <Prim kPrim>
Scalar number_of_two(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  const Scalar x = args[0], y = args[1];
  const Scalar both = b.apply(kPrim, x, y);
  if (!is_floating(x.type())) return both;
  return b.select(b.apply(Prim::ne, x, x), y,
                  b.select(b.apply(Prim::ne, y, y), x, both));
}

Scalar heaviside(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const ScalarArgs args(b, call, in);
  const Scalar x = args[0], above = b.apply(Prim::gt, x, number(b, 0, x));
  return b.select(equal(b, x, 0), args[1], b.cast(above, x.type()));
}

Scalar signbit(ScalarBuilder& b, const OpCall&, Inputs in) {
  if (in[0].type() == DType::boolean) return b.constant_int(0, DType::boolean);
  if (!is_floating(in[0].type())) return less(b, in[0], 0);
  return has_sign(b, in[0]);
}

template <int kSign>
Scalar is_infinity(ScalarBuilder& b, const OpCall&, Inputs in) {
  if (!is_floating(in[0].type())) return b.constant_int(0, DType::boolean);
  return equal(b, in[0], kSign * kInfinity);
}

Scalar deg2rad(ScalarBuilder&, const OpCall&, Inputs in) {
  return in[0] * (kPi / 180);
}

Scalar rad2deg(ScalarBuilder&, const OpCall&, Inputs in) {
  return in[0] * (180 / kPi);
}

Scalar sinc(ScalarBuilder& b, const OpCall&, Inputs in) {
  const Scalar at = in[0] * kPi;
  return b.select(equal(b, at, 0), number(b, 1, at),
                  b.apply(Prim::sin, at) / at);
}

Scalar nan_to_num(ScalarBuilder& b, const OpCall& call, Inputs in) {
  const Scalar x = in[0];
  if (!is_floating(x.type())) return x;
  const double most = greatest_float(call.tensor(0).dtype());
  const double nan = call.has(1) ? call.number(1) : 0;
  const double high = call.has(2) ? call.number(2) : most;
  const double low = call.has(3) ? call.number(3) : -most;
  const Scalar finite =
      b.select(equal(b, x, kInfinity), number(b, high, x),
               b.select(equal(b, x, -kInfinity), number(b, low, x), x));
  return b.select(b.apply(Prim::ne, x, x), number(b, nan, x), finite);
}

Value infer_bools(const OpCall& call) {
  return Tensor::meta(call.tensor(0).sizes(), DType::boolean);
}

// Within tolerances; infinities of one sign are close.
Value isclose(const OpCall& call) {
  const DType dtype = meta_of(call[0]).dtype();
  if (dtype != meta_of(call[1]).dtype())
    runtime_error(cpp_type_name(dtype), " did not match ",
                  cpp_type_name(meta_of(call[1]).dtype()));
  const Value &a = call[0], &b = call[1];
  Value close = fxjit::eq(a, b);
  if (is_floating(dtype)) {
    const Value apart = fxjit::abs(a - b);
    const Value allowed = fxjit::abs(b) * call.number(2) + call.number(3);
    close = close | (fxjit::isfinite(apart) & (apart <= allowed));
    if (call.flag(4)) close = close | (fxjit::isnan(a) & fxjit::isnan(b));
  } else if (call.number(2) != 0 || call.number(3) != 0) {
    const Value x = cast_to(a, DType::f64), y = cast_to(b, DType::f64);
    close = close | (fxjit::abs(x - y) <=
                     fxjit::abs(y) * call.number(2) + call.number(3));
  }
  return close;
}

Value float_power(const OpCall& call) {
  const auto wide = [](const Value& x) {
    return x.is_number() ? x : cast_to(x, DType::f64);
  };
  return fxjit::pow(wide(call[0]), wide(call[1]));
}

constexpr OpRow kSpecialRows[] = {
    scalar_row("atan2", "input, other",
               "torch.atan2 torch.arctan2 .atan2 .arctan2", atan2, kFloat),
    binary_row("hypot", "torch.hypot .hypot", hypot),
    binary_row("logaddexp", "torch.logaddexp .logaddexp", logaddexp<false>),
    binary_row("logaddexp2", "torch.logaddexp2 .logaddexp2", logaddexp<true>),
    scalar_row("xlogy", "input, other",
               "torch.xlogy .xlogy torch._C._special.special_xlogy", xlogy,
               kFloat),
    scalar_row("logit", "input, eps=None",
               "torch.logit .logit torch._C._special.special_logit", logit,
               kFloat),
    scalar_row("copysign", "input, other", "torch.copysign .copysign", copysign,
               kFloat),
    binary_row("fmax", "torch.fmax .fmax", number_of_two<Prim::maximum>),
    binary_row("fmin", "torch.fmin .fmin", number_of_two<Prim::minimum>),
    scalar_row("heaviside", "input, values", "torch.heaviside .heaviside",
               heaviside),
    custom_row("signbit", "input", "torch.signbit .signbit", infer_bools,
               signbit),
    custom_row("isposinf", "input", "torch.isposinf .isposinf", infer_bools,
               is_infinity<1>),
    custom_row("isneginf", "input", "torch.isneginf .isneginf", infer_bools,
               is_infinity<-1>),
    unary_row("deg2rad", "torch.deg2rad .deg2rad", deg2rad, kFloat),
    unary_row("rad2deg", "torch.rad2deg .rad2deg", rad2deg, kFloat),
    unary_row("sinc", "torch.sinc .sinc torch._C._special.special_sinc", sinc,
              kFloat),
    custom_row("nan_to_num", "input, nan=None, posinf=None, neginf=None",
               "torch.nan_to_num .nan_to_num", infer_like_first, nan_to_num),
    composed_row("isclose",
                 "input, other, rtol=1e-05, atol=1e-08, equal_nan=False",
                 "torch.isclose .isclose", isclose),
    composed_row("float_power", "input, exponent",
                 "torch.float_power .float_power", float_power),
};

}  // namespace

std::span<const OpRow> special_rows() { return kSpecialRows; }

}  // namespace fxjit::ops
