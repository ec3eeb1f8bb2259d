// Linears over a few features that lie far apart in memory.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

Passed over_heads(const Dims& sizes, int64_t features, bool biased) {
  const Value weight = random_tensor({features, sizes[1]}, 2);
  const Value bias = biased ? Value(random_tensor({features}, 3)) : Value();
  return run_passes(
      [=](Value x) {
        const Value mixed =
            F::linear(permute(x, Dims{0, 2, 3, 1}), weight, bias);
        return method(permute(mixed, Dims{0, 3, 1, 2}), "contiguous");
      },
      {random_tensor(sizes, 1)});
}

TEST(PlaneSums, HeadsAreElementwise) {
  for (const bool biased : {false, true})
    for (const auto& [heads, features] :
         std::vector<std::pair<int64_t, int64_t>>{
             {2, 2}, {4, 4}, {4, 16}, {16, 3}})
      for (int64_t batch : {1, 2}) {
        const Passed passed =
            over_heads({batch, heads, 9, 13}, features, biased);
        EXPECT_EQ(wrong_result(passed), "");
        EXPECT_THAT(regions(passed.model), SizeIs(1));
        EXPECT_THAT(regions(passed.model)[0], Not(HasSubstr("contract")));
        EXPECT_THAT(regions(passed.model)[0], Not(HasSubstr("materialize")));
      }
}

// What follows over the heads' rows is part of the same loop.
TEST(PlaneSums, TalkingHeadsFuseWithTheirSoftmax) {
  const Value weight = random_tensor({4, 4}, 2), bias = random_tensor({4}, 3);
  const Passed passed = run_passes(
      [=](Value x) {
        const Value mixed =
            F::linear(permute(x, Dims{0, 2, 3, 1}), weight, bias);
        return softmax(permute(mixed, Dims{0, 3, 1, 2}), -1);
      },
      {random_tensor({2, 4, 12, 12}, 1)});
  EXPECT_EQ(wrong_result(passed), "");
  EXPECT_THAT(regions(passed.model), SizeIs(1));
}

// Many features, small planes, features side by side and rows that are repeated
// are products.
TEST(PlaneSums, OthersStayProducts) {
  const auto is_product = [](const Passed& passed) {
    EXPECT_EQ(wrong_result(passed), "");
    EXPECT_THAT(regions(passed.model), Contains(HasSubstr("contract")));
  };
  is_product(over_heads({1, 17, 9, 13}, 4, true));
  is_product(over_heads({1, 4, 9, 13}, 17, true));
  is_product(over_heads({1, 4, 5, 5}, 4, true));
  const Value weight = random_tensor({4, 4}, 2);
  is_product(run_passes([=](Value x) { return F::linear(x, weight); },
                        {random_tensor({90, 4}, 1)}));
  is_product(run_passes(
      [=](Value x) {
        return F::linear(
            permute(method(x, "expand", {3, 4, 80}), Dims{0, 2, 1}), weight);
      },
      {random_tensor({1, 4, 80}, 1)}));
}

// A convolution of one element keeps to channels last.
TEST(PlaneSums, ConvolutionsAreProducts) {
  const Value weight = random_tensor({8, 4, 1, 1}, 2);
  const Passed passed =
      run_passes([=](Value x) { return F::relu(F::conv2d(x, weight)); },
                 {random_tensor({1, 4, 12, 12}, 1)});
  EXPECT_EQ(wrong_result(passed), "");
  EXPECT_THAT(regions(passed.model), Contains(HasSubstr("contract")));
}

}  // namespace TEST_FILE
}  // namespace fxjit
