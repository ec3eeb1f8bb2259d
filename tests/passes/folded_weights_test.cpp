// What is made of the same weights is one tensor for all shapes of a module.
#include "src/passes/folded_weights.h"

#include <gtest/gtest.h>

namespace fxjit::passes {
namespace TEST_FILE {

struct Doubled {
  FoldedWeights folded;
  int made = 0;

  Tensor operator()(const Tensor& source, double number = 2) {
    return folded.get({source, Tensor()}, number, [&] {
      ++made;
      return std::vector<Tensor>{source.clone()};
    })[0];
  }
};

TEST(FoldedWeights, AreMadeOnceOfTheSameTensors) {
  Doubled doubled;
  const Tensor a = Tensor::zeros({2, 3}), b = Tensor::zeros({2, 3});
  const Tensor first = doubled(a), second = doubled(a), other = doubled(b);
  EXPECT_EQ(first.data(), second.data());
  EXPECT_EQ(second.sizes(), a.sizes());
  EXPECT_NE(first.data(), other.data());
  EXPECT_EQ(doubled.made, 2);
}

TEST(FoldedWeights, DifferWithTheSmallestNumbers) {
  Doubled doubled;
  const Tensor a = Tensor::zeros({4});
  const Tensor first = doubled(a, 1e-12), second = doubled(a, 2e-12);
  EXPECT_NE(first.data(), second.data());
}

TEST(FoldedWeights, OfAViewAreOfThatView) {
  Doubled doubled;
  const Tensor a = Tensor::zeros({4});
  const Tensor first = doubled(a);
  const Tensor half =
      doubled(Tensor::view(a.storage(), {2}, a.dtype(), {1}, 0));
  EXPECT_EQ(half.sizes(), Dims({2}));
  EXPECT_EQ(doubled.made, 2);
}

TEST(FoldedWeights, AreNotKeptAlive) {
  Doubled doubled;
  const Tensor a = Tensor::zeros({4});
  const std::weak_ptr<Storage> first = doubled(a).storage();
  EXPECT_TRUE(first.expired());
  doubled(a);
  EXPECT_EQ(doubled.made, 2);
}

TEST(FoldedWeights, OfAFreedTensorAreNotAnothersInItsPlace) {
  Doubled doubled;
  Tensor a = Tensor::zeros({4});
  const Tensor first = doubled(a);
  a = Tensor();
  for (int i = 0; i < 8; ++i) doubled(Tensor::zeros({4}));
  EXPECT_EQ(doubled.made, 9);
}

}  // namespace TEST_FILE
}  // namespace fxjit::passes
