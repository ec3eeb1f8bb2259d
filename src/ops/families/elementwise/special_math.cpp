#include "src/ops/families/elementwise/special_math.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "src/ops/families/shared/numbers.h"

namespace fxjit::ops {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSqrt2 = std::numbers::sqrt2;

// exp(x * x) without the error of the rounded square.
double exp_of_square(double x) {
  const double square = x * x;
  return std::exp(square) * (1 + std::fma(x, x, -square));
}

// Sums of powers up to here, asymptotic series beyond.
constexpr double kLargeBessel = 30;

// I_order(x) for 0 <= x <= kLargeBessel and order 0 or 1.
double bessel_powers(double x, int order) {
  const double quarter = x * x / 4;
  double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; term > sum * 1e-18; ++k) {
    term *= quarter / (static_cast<double>(k) * (k + order));
    sum += term;
  }
  return sum;
}

// exp(-x) * I_order(x) for large x.
double bessel_scaled(double x, int order) {
  if (std::isinf(x)) return 0;
  const double mu = 4.0 * order * order;
  double term = 1, sum = 1;
  for (int k = 1; k < 60 && std::abs(term) > 1e-18; ++k) {
    const double odd = 2 * k - 1;
    term *= -(mu - odd * odd) / (8 * x * k);
    sum += term;
  }
  return sum / std::sqrt(2 * kPi * x);
}

double scaled_bessel(double x, int order) {
  const double a = std::abs(x);
  if (a != a) return a;
  const double value = a <= kLargeBessel
                           ? bessel_powers(a, order) * std::exp(-a)
                           : bessel_scaled(a, order);
  return order == 1 && x < 0 ? -value : value;
}

// As torch's, which is NaN at the infinities.
double bessel(double x, int order) {
  const double a = std::abs(x);
  if (!std::isfinite(a)) return kNan;
  // exp in two factors: the product overflows only where the result does.
  const double value =
      a <= kLargeBessel
          ? bessel_powers(a, order)
          : std::exp(a / 2) * bessel_scaled(a, order) * std::exp(a / 2);
  return order == 1 && x < 0 ? -value : value;
}

// Sum of (q + k)^-x from k on by Euler and Maclaurin, without the first terms.
double zeta_rest(double x, double q) {
  // Bernoulli numbers of even index over the factorials.
  constexpr double kTerms[] = {1.0 / 12,
                               -1.0 / 720,
                               1.0 / 30240,
                               -1.0 / 1209600,
                               1.0 / 47900160,
                               -691.0 / 1307674368000.0,
                               1.0 / 74724249600.0,
                               -3617.0 / 10670622842880000.0};
  const double power = std::pow(q, -x);
  double sum = power * q / (x - 1) + power / 2;
  double factor = power * x / q;
  double order = x;
  for (double term : kTerms) {
    sum += term * factor;
    factor *= (order + 1) * (order + 2) / (q * q);
    order += 2;
  }
  return sum;
}

// Derivative of digamma, which no longer grows at infinity.
double trigamma(double x) { return x == kInfinity ? 0 : zeta_of(2, x); }

}  // namespace

// The logarithmic derivative of gamma: the recurrence up to 10, then the
// asymptotic series; by reflection below zero.
double digamma_of(double x) {
  if (x == 0) return std::copysign(kInfinity, -x);
  if (x < 0) {
    if (x == std::floor(x)) return kNan;
    return digamma_of(1 - x) - kPi / std::tan(kPi * (x - std::floor(x)));
  }
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  if (std::isinf(x)) return x;
  const double y = 1 / (x * x);
  const double series =
      y * (1.0 / 12 -
           y * (1.0 / 120 -
                y * (1.0 / 252 -
                     y * (1.0 / 240 -
                          y * (1.0 / 132 - y * (691.0 / 32760 - y / 12))))));
  return sum + std::log(x) - 0.5 / x - series;
}

// By Newton's steps on erf from an estimate by logarithms.
double erfinv_of(double x) {
  if (!(x > -1 && x < 1)) return std::fabs(x) == 1 ? x * kInfinity : kNan;
  const double a = std::fabs(x);
  const double part = std::log1p(-a * a), c = 2 / (kPi * 0.147) + part / 2;
  double y = std::sqrt(std::sqrt(c * c - part / 0.147) - c);
  for (int i = 0; i < 3; ++i) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step = error / (2 / std::sqrt(kPi) * std::exp(-y * y));
    y -= step / (1 + y * step);
  }
  return std::copysign(a == 0 ? 0 : y, x);
}

double lgamma_of(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double erfc_of(double x) { return std::erfc(x); }

double erfcx_of(double x) {
  constexpr double kLarge = 4;
  constexpr double kOverflow = -27;
  if (x < kOverflow) return kInfinity;
  if (!(x >= kLarge)) return exp_of_square(x) * std::erfc(x);
  if (std::isinf(x)) return 0;
  // The continued fraction of erfc from its end.
  double fraction = x;
  for (int k = 120; k > 0; --k) fraction = x + k / 2.0 / fraction;
  return 1 / (fraction * std::sqrt(kPi));
}

double ndtr_of(double x) { return std::erfc(-x / kSqrt2) / 2; }

double log_ndtr_of(double x) {
  if (x < -1) return std::log(erfcx_of(-x / kSqrt2) / 2) - x * x / 2;
  return std::log1p(-std::erfc(x / kSqrt2) / 2);
}

// By Halley's steps on the logarithm of ndtr in the lower half.
double ndtri_of(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -kInfinity : p == 1 ? kInfinity : kNan;
  if (p > 0.5) {
    const double upper = 1 - p;
    return upper == 0.5 ? 0 : -ndtri_of(upper);
  }
  const double wanted = std::log(p);
  double x = p > 0.02
                 ? kSqrt2 * erfinv_of(2 * p - 1)
                 : -std::sqrt(-2 * wanted - std::log(-2 * wanted * 2 * kPi));
  for (int i = 0; i < 20; ++i) {
    // The derivative of the logarithm is a quotient that does not vanish.
    const double slope = std::sqrt(2 / kPi) / erfcx_of(-x / kSqrt2);
    const double error = log_ndtr_of(x) - wanted;
    const double bend = -slope * (x + slope);
    const double step = error / slope;
    const double next = x - step / (1 - step * bend / (2 * slope));
    if (!(std::abs(next - x) > 1e-16 * std::abs(x))) return next;
    x = next;
  }
  return x;
}

double i0_of(double x) { return bessel(x, 0); }
double i0e_of(double x) { return scaled_bessel(x, 0); }
double i1_of(double x) { return bessel(x, 1); }
double i1e_of(double x) { return scaled_bessel(x, 1); }

double zeta_of(double x, double q) {
  if (x == 1) return kInfinity;
  if (x < 1) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return kInfinity;
    if (x != std::floor(x)) return kNan;
  }
  // The limit for large q would be 0; torch has NaN.
  if (x != x || q != q || q == kInfinity) return kNan;
  // Too many terms, each of which counts.
  constexpr double kNearest = -1e7;
  if (q < kNearest) return kNan;
  constexpr double kFar = 10;
  double sum = 0;
  for (; q < kFar; q += 1) {
    const double term = std::pow(q, -x);
    sum += term;
    if (std::abs(term) < 1e-18 * std::abs(sum)) return sum;
  }
  return sum + zeta_rest(x, q);
}

double polygamma_of(double n, double x) {
  if (n == 0) return digamma_of(x);
  if (n == 1) return trigamma(x);
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return sign * std::exp(std::lgamma(n + 1)) * zeta_of(n + 1, x);
}

}  // namespace fxjit::ops
