#include "src/ops/eager/fourier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace fxjit::ops {
namespace TEST_FILE {

using Numbers = std::vector<Complex>;

Numbers random_numbers(int64_t length) {
  std::mt19937 random(static_cast<unsigned>(length));
  std::uniform_real_distribution<double> number(-1, 1);
  Numbers numbers(static_cast<size_t>(length));
  for (Complex& c : numbers) c = {number(random), number(random)};
  return numbers;
}

// The sums that define the transform.
Numbers summed(const Numbers& in, bool forward) {
  const auto n = static_cast<int64_t>(in.size());
  Numbers out(in.size());
  for (int64_t k = 0; k < n; ++k)
    for (int64_t i = 0; i < n; ++i) {
      const double angle = (forward ? -2 : 2) * std::numbers::pi *
                           static_cast<double>(i * k % n) /
                           static_cast<double>(n);
      const double c = std::cos(angle), s = std::sin(angle);
      const Complex& x = in[static_cast<size_t>(i)];
      Complex& sum = out[static_cast<size_t>(k)];
      sum = {sum.re + x.re * c - x.im * s, sum.im + x.re * s + x.im * c};
    }
  return out;
}

double distance(const Numbers& a, const Numbers& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::hypot(a[i].re - b[i].re, a[i].im - b[i].im));
  return most;
}

TEST(Fourier, EqualsTheSums) {
  std::vector<int64_t> lengths;
  for (int64_t n = 1; n <= 70; ++n) lengths.push_back(n);
  // Powers, products of many factors, primes and products of large ones.
  for (const int64_t n : {128, 169, 243, 343, 360, 442, 512, 625, 1009, 1021,
                          1024, 17 * 19, 2 * 3 * 5 * 7 * 11})
    lengths.push_back(n);
  for (const int64_t n : lengths)
    for (const bool forward : {true, false}) {
      const Numbers in = random_numbers(n);
      Numbers out = in;
      FourierPlan(n).run(out.data(), forward);
      EXPECT_LT(distance(out, summed(in, forward)),
                1e-13 * static_cast<double>(n))
          << n << (forward ? " forward" : " backward");
    }
}

TEST(Fourier, ComesBack) {
  for (const int64_t n : {4096, 65536, 44100, 10007, 99991}) {
    const Numbers in = random_numbers(n);
    Numbers out = in;
    FourierPlan plan(n);
    plan.run(out.data(), true);
    plan.run(out.data(), false);
    for (Complex& c : out) {
      c.re /= static_cast<double>(n);
      c.im /= static_cast<double>(n);
    }
    EXPECT_LT(distance(in, out), 1e-12) << n;
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::ops
