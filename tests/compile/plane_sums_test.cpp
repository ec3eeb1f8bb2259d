// Linears over a few features that lie far apart in memory, compiled, against
// sums in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::random_tensor;

struct Heads {
  Tensor x, weight, bias;  // [N, heads, H, W], [features, heads], [features].

  Tensor sums() const {
    const Dims sizes = x.sizes();
    const int64_t features = weight.size(0), heads = sizes[1];
    const int64_t plane = sizes[2] * sizes[3];
    const Tensor wide = x.to(DType::f64), w = weight.to(DType::f64),
                 b = bias.to(DType::f64);
    Tensor out =
        Tensor::full({sizes[0], features, sizes[2], sizes[3]}, 0.0, DType::f64);
    const auto *from = wide.data_as<double>(), *factors = w.data_as<double>(),
               *added = b.data_as<double>();
    auto* to = out.data_as<double>();
    for (int64_t n = 0; n < sizes[0]; ++n)
      for (int64_t f = 0; f < features; ++f)
        for (int64_t i = 0; i < plane; ++i) {
          double sum = added[f];
          for (int64_t h = 0; h < heads; ++h)
            sum += factors[f * heads + h] * from[(n * heads + h) * plane + i];
          to[(n * features + f) * plane + i] = sum;
        }
    return out;
  }
};

void expect_sums(const Heads& heads, double near) {
  const Value weight = heads.weight, bias = heads.bias;
  const auto gm = fx::symbolic_trace(
      [=](Value x) {
        return permute(F::linear(permute(x, Dims{0, 2, 3, 1}), weight, bias),
                       Dims{0, 3, 1, 2});
      },
      {"x"}, "f");
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      compile(*gm, testing::options_for(level, threads));
      const Tensor got = gm->forward({heads.x}).as_tensor();
      EXPECT_EQ(testing::value_difference(got.to(DType::f64), heads.sums(),
                                          near, near * 8),
                "");
    }
}

Heads heads_of(const Dims& sizes, int64_t features, DType dtype = DType::f32) {
  return {random_tensor(sizes, dtype, 1),
          random_tensor({features, sizes[1]}, dtype, 2),
          random_tensor({features}, dtype, 3)};
}

TEST(PlaneSums, EqualDoublePrecision) {
  for (int64_t heads : {2, 3, 4, 8, 16})
    for (int64_t features : {2, 4, 5, 16})
      expect_sums(heads_of({2, heads, 7, 13}, features), 2e-6);
  expect_sums(heads_of({1, 4, 1, 197}, 4), 2e-6);
  expect_sums(heads_of({3, 4, 8, 8}, 4), 2e-6);
  expect_sums(heads_of({3, 4, 0, 8}, 4), 2e-6);
}

TEST(PlaneSums, OfOtherTypes) {
  expect_sums(heads_of({2, 4, 7, 13}, 4, DType::f16), 2e-3);
  expect_sums(heads_of({2, 4, 7, 13}, 4, DType::bf16), 2e-2);
  expect_sums(heads_of({2, 4, 7, 13}, 4, DType::f64), 1e-14);
}

TEST(PlaneSums, NanAndInfinityStay) {
  Heads heads = heads_of({2, 4, 7, 13}, 4);
  auto* data = heads.x.data_as<float>();
  data[3] = std::numeric_limits<float>::quiet_NaN();
  data[200] = std::numeric_limits<float>::infinity();
  data[400] = -std::numeric_limits<float>::infinity();
  expect_sums(heads, 2e-6);
  heads.weight.data_as<float>()[5] = std::numeric_limits<float>::infinity();
  expect_sums(heads, 2e-6);
}

}  // namespace TEST_FILE
}  // namespace fxjit
