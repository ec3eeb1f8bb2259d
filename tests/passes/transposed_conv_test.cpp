// Transposed convolutions whose windows lie side by side, which become
// products, and others.
#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

// The kinds of steps of a transposed convolution of [2, 6, 5, 4].
std::vector<std::string> steps(const Dims& window, const Value& stride,
                               const Value& padding, bool with_bias,
                               int64_t groups = 1) {
  const Tensor weight =
      random_tensor({6, 8 / groups, window[0], window[1]}, 3);
  const Value bias = with_bias ? Value(random_tensor({8}, 4)) : Value();
  const Passed passed = run_passes(
      [&](Value x) {
        return F::conv_transpose2d(x, weight, bias, stride, padding, Value(0),
                                   Value(groups));
      },
      {random_tensor({2, 6, 5, 4})});
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

TEST(TransposedConvolution, WindowsSideBySideAreAProduct) {
  for (const bool with_bias : {false, true}) {
    EXPECT_THAT(steps({2, 2}, Value(2), Value(0), with_bias),
                Contains(::testing::StartsWith("contraction")));
    EXPECT_THAT(steps({2, 2}, Value(2), Value(1), with_bias),
                Contains(::testing::StartsWith("contraction")));
    EXPECT_THAT(steps({2, 3}, Value::list({2, 3}), Value(0), with_bias),
                Contains(::testing::StartsWith("contraction")));
    EXPECT_THAT(steps({1, 1}, Value(1), Value(0), with_bias),
                Contains(::testing::StartsWith("contraction")));
  }
}

TEST(TransposedConvolution, OthersAreConvolutions) {
  const auto is_convolution = Contains("call: conv_last");
  EXPECT_THAT(steps({3, 3}, Value(2), Value(0), false), is_convolution);
  EXPECT_THAT(steps({2, 2}, Value(1), Value(0), false), is_convolution);
  EXPECT_THAT(steps({2, 2}, Value(2), Value(0), false, 2), is_convolution);
}

}  // namespace TEST_FILE
}  // namespace fxjit
