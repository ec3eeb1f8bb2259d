// The regularised incomplete gamma functions.
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "src/ops/families/elementwise/special_math.h"

namespace fxjit::ops {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// log(1 + u) - u
double log_rest(double u) {
  if (std::abs(u) > 0.1) return std::log1p(u) - u;
  double power = -u * u, sum = 0;
  for (int k = 2; std::abs(power) > kEpsilon * std::abs(sum) / 4; ++k) {
    sum += power / k;
    power *= -u;
  }
  return sum;
}

// x^a exp(-x) / gamma(a + 1). For large a the logarithm of the gamma function
// is Stirling's, whose great terms cancel.
double front(double a, double x) {
  constexpr double kLarge = 20;
  if (a < kLarge) return std::exp(a * std::log(x) - x - std::lgamma(a + 1));
  const double b = 1 / (a * a);
  const double rest = (1.0 / 12 - b * (1.0 / 360 - b / 1260)) / a;
  return std::exp(a * log_rest((x - a) / a) - rest) /
         std::sqrt(2 * std::numbers::pi * a);
}

// The lower function by its power series, for x < a + 1.
double series(double a, double x) {
  double term = 1, sum = 1;
  for (double k = 1; term > kEpsilon * sum; ++k) {
    term *= x / (a + k);
    sum += term;
  }
  return front(a, x) * sum;
}

// The upper function by its continued fraction, for x >= a + 1: Lentz's method.
double fraction(double a, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, product = d;
  for (double k = 1;; ++k) {
    const double step = -k * (k - a);
    b += 2;
    d = step * d + b;
    c = b + step / c;
    if (std::abs(d) < kTiny) d = kTiny;
    if (std::abs(c) < kTiny) c = kTiny;
    d = 1 / d;
    product *= d * c;
    if (std::abs(d * c - 1) <= 2 * kEpsilon) return front(a, x) * a * product;
  }
}

// The upper function of an a so large that the others take too many terms: the
// first two of the uniform expansion in 1 / a.
double far(double a, double x) {
  const double u = (x - a) / a;
  const double root = std::copysign(std::sqrt(-2 * log_rest(u)), u);
  const double first = std::abs(u) < 1e-4 ? -1.0 / 3 : 1 / u - 1 / root;
  return std::erfc(root * std::sqrt(a / 2)) / 2 +
         std::exp(-a * root * root / 2) / std::sqrt(2 * std::numbers::pi * a) *
             first;
}

// (lower, upper), which are 1 together, for finite positive numbers.
std::pair<double, double> both(double a, double x) {
  constexpr double kFar = 1e8;
  if (a > kFar && std::abs(x - a) < a / 2) {
    const double upper = far(a, x);
    return {1 - upper, upper};
  }
  if (x < a + 1) {
    const double lower = series(a, x);
    return {lower, 1 - lower};
  }
  const double upper = fraction(a, x);
  return {1 - upper, upper};
}

// The lower function where it is no number between 0 and 1; -1 else.
double border(double a, double x) {
  if (a < 0 || x < 0) return kUndefined;
  if (a == 0) return x > 0 ? 1 : kUndefined;
  if (x == 0) return 0;
  if (std::isinf(a)) return std::isinf(x) ? kUndefined : 0;
  if (std::isinf(x)) return 1;
  return a != a || x != x ? kUndefined : -1;
}

}  // namespace

double igamma_of(double a, double x) {
  const double known = border(a, x);
  return known == -1 ? both(a, x).first : known;
}

double igammac_of(double a, double x) {
  const double known = border(a, x);
  return known == -1 ? both(a, x).second : 1 - known;
}

}  // namespace fxjit::ops
