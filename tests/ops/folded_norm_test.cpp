// Batch norm as part of the weights, against the norm's definition.
#include "src/ops/eager/folded_norm.h"

#include <gtest/gtest.h>

#include <cmath>

namespace fxjit {
namespace TEST_FILE {

Tensor numbers(std::initializer_list<float> values, const Dims& sizes) {
  Tensor t = Tensor::empty(sizes);
  std::copy(values.begin(), values.end(), t.data_as<float>());
  return t;
}

TEST(FoldedNorm, IsTheNormOfTheLayersSums) {
  const Tensor mean = numbers({0.5f, -2}, {2}), var = numbers({4, 0.25f}, {2});
  const Tensor gamma = numbers({3, -1}, {2}), beta = numbers({0.125f, 7}, {2});
  const Tensor weight = numbers({1, 2, 3, -4, 5, -6}, {2, 3});
  const Tensor bias = numbers({10, -20}, {2});
  constexpr double kEps = 1e-3;
  const double x[3] = {0.75, -1.5, 2.25};
  for (const bool affine : {true, false})
    for (const bool biased : {true, false}) {
      const ops::FoldedNorm norm(mean, var, affine ? gamma : Tensor(),
                                 affine ? beta : Tensor(), kEps);
      const Tensor folded = Tensor::empty({2, 3});
      norm.scale(weight, folded.data());
      const Tensor added = norm.bias(biased ? bias : Tensor(), DType::f32);
      for (int64_t c = 0; c < 2; ++c) {
        double sum = biased ? bias.at({c}) : 0, got = added.at({c});
        for (int64_t k = 0; k < 3; ++k) {
          sum += weight.at({c, k}) * x[k];
          got += folded.at({c, k}) * x[k];
        }
        double want = (sum - mean.at({c})) / std::sqrt(var.at({c}) + kEps);
        if (affine) want = want * gamma.at({c}) + beta.at({c});
        EXPECT_NEAR(got, want, 1e-5) << c << affine << biased;
      }
    }
}

TEST(FoldedNorm, KnowsWhatIsNotFinite) {
  const Tensor one = numbers({1}, {1}), zero = numbers({0}, {1});
  const Tensor infinite = numbers({INFINITY}, {1});
  const auto finite = [](const Tensor& mean, const Tensor& var,
                         const Tensor& gamma, const Tensor& beta, double eps) {
    return ops::FoldedNorm(mean, var, gamma, beta, eps).is_finite();
  };
  EXPECT_TRUE(finite(zero, zero, one, one, 1e-5));
  EXPECT_TRUE(finite(zero, one, Tensor(), Tensor(), 0));
  EXPECT_FALSE(finite(zero, zero, one, one, 0));
  EXPECT_FALSE(finite(zero, numbers({-1}, {1}), one, one, 1e-5));
  EXPECT_FALSE(finite(infinite, one, one, one, 0));
  EXPECT_FALSE(finite(zero, one, infinite, one, 0));
  EXPECT_FALSE(finite(zero, one, one, infinite, 0));
}

TEST(FoldedNorm, KeepsTheTypeOfTheWeight) {
  const Tensor one = numbers({1}, {1}), four = numbers({4}, {1});
  const ops::FoldedNorm norm(one, four, Tensor(), Tensor(), 0);
  for (DType type : {DType::f64, DType::bf16, DType::f16}) {
    const Tensor weight = numbers({3, -8}, {1, 2}).to(type);
    const Tensor folded = Tensor::empty({1, 2}, type);
    norm.scale(weight, folded.data());
    EXPECT_EQ(folded.at({0, 0}), 1.5) << dtype_name(type);
    EXPECT_EQ(folded.at({0, 1}), -4) << dtype_name(type);
    EXPECT_EQ(norm.bias(Tensor(), type).dtype(), type);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
