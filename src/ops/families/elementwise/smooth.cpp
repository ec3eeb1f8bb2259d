// Exponential, logarithmic, trigonometric and hyperbolic functions.
#include <cmath>
#include <limits>

#include "src/ops/families/elementwise/elementwise.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// |x| from which x*x + 1 is x*x: there the logarithm of 2|x| is exact enough,
// and x*x does not overflow below.
constexpr double kLargeFloat = 1e8;
constexpr double kLn2 = 0.69314718055994530942;

// sign(x) * log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))): no cancellation near 0.
Scalar asinh(ScalarBuilder& b, const OpCall&, Inputs in) {
  const Scalar x = in[0];
  const Scalar magnitude = b.apply(Prim::abs, x);
  const Scalar limit = b.constant(kLargeFloat, x.type());
  const Scalar bounded = b.apply(Prim::minimum, magnitude, limit);
  const Scalar squared = bounded * bounded;
  const Scalar root = b.apply(Prim::sqrt, squared + 1.0);
  const Scalar small = b.apply(Prim::log1p, bounded + squared / (1.0 + root));
  const Scalar large = b.apply(Prim::log, magnitude) + kLn2;
  const Scalar result =
      b.select(b.apply(Prim::lt, magnitude, limit), small, large);
  const Scalar zero = b.constant(0, x.type());
  return b.select(b.apply(Prim::lt, x, zero), -result,
                  b.select(b.apply(Prim::eq, x, zero), x, result));
}

// log1p(t + sqrt(2 t + t^2)) with t = x - 1: exact near 1. NaN below 1, also
// where the square, or the number beside it, leaves nothing negative under the
// root.
Scalar acosh(ScalarBuilder& b, const OpCall&, Inputs in) {
  const Scalar x = in[0];
  const Scalar limit = b.constant(kLargeFloat, x.type());
  const Scalar t = b.apply(Prim::minimum, x, limit) - 1.0;
  const Scalar small =
      b.apply(Prim::log1p, t + b.apply(Prim::sqrt, t * 2.0 + t * t));
  const Scalar large = b.apply(Prim::log, x) + kLn2;
  const Scalar nan =
      b.constant(std::numeric_limits<double>::quiet_NaN(), x.type());
  const Scalar one = b.constant(1, x.type());
  return b.select(b.apply(Prim::lt, x, one), nan,
                  b.select(b.apply(Prim::lt, x, limit), small, large));
}

Scalar atanh(ScalarBuilder& b, const OpCall&, Inputs in) {
  const Scalar x = in[0];
  const Scalar magnitude = b.apply(Prim::abs, x);
  const Scalar ratio = (magnitude * 2.0) / (1.0 - magnitude);
  const Scalar half = b.apply(Prim::log1p, ratio) * 0.5;
  const Scalar zero = b.constant(0, x.type());
  return b.select(b.apply(Prim::lt, x, zero), -half,
                  b.select(b.apply(Prim::eq, x, zero), x, half));
}

constexpr OpRow kExp =
    unary_row("exp", "torch.exp .exp", unary<Prim::exp>, kFloat);
constexpr OpRow kLog =
    unary_row("log", "torch.log .log", unary<Prim::log>, kFloat);
constexpr OpRow kSin =
    unary_row("sin", "torch.sin .sin", unary<Prim::sin>, kFloat);
constexpr OpRow kCos =
    unary_row("cos", "torch.cos .cos", unary<Prim::cos>, kFloat);

constexpr OpRow kSmoothRows[] = {
    kExp,
    unary_row("exp2", "torch.exp2 .exp2 torch._C._special.special_exp2",
              unary<Prim::exp2>, kFloat),
    unary_row("expm1", "torch.expm1 .expm1 torch._C._special.special_expm1",
              unary<Prim::expm1>, kFloat),
    kLog,
    unary_row("log2", "torch.log2 .log2", unary<Prim::log2>, kFloat),
    unary_row("log10", "torch.log10 .log10", unary<Prim::log10>, kFloat),
    unary_row("log1p", "torch.log1p .log1p torch._C._special.special_log1p",
              unary<Prim::log1p>, kFloat),
    unary_row("erf", "torch.erf .erf torch._C._special.special_erf",
              unary<Prim::erf>, kFloat),
    kSin,
    kCos,
    unary_row("tan", "torch.tan .tan", unary<Prim::tan>, kFloat),
    unary_row("asin", "torch.asin torch.arcsin .asin .arcsin",
              unary<Prim::asin>, kFloat),
    unary_row("acos", "torch.acos torch.arccos .acos .arccos",
              unary<Prim::acos>, kFloat),
    unary_row("atan", "torch.atan torch.arctan .atan .arctan",
              unary<Prim::atan>, kFloat),
    unary_row("sinh", "torch.sinh .sinh", unary<Prim::sinh>, kFloat),
    unary_row("cosh", "torch.cosh .cosh", unary<Prim::cosh>, kFloat),
    unary_row("asinh", "torch.asinh torch.arcsinh .asinh .arcsinh", asinh,
              kFloat),
    unary_row("acosh", "torch.acosh torch.arccosh .acosh .arccosh", acosh,
              kFloat),
    unary_row("atanh", "torch.atanh torch.arctanh .atanh .arctanh", atanh,
              kFloat),
    in_place(kExp, "exp_", "torch.exp_ .exp_"),
    in_place(kLog, "log_", "torch.log_ .log_"),
    in_place(kSin, "sin_", "torch.sin_ .sin_"),
    in_place(kCos, "cos_", "torch.cos_ .cos_"),
};

}  // namespace

std::span<const OpRow> smooth_rows() { return kSmoothRows; }

}  // namespace fxjit::ops
