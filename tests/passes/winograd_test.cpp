// Which convolutions become Winograd ones, and what joins them.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

template <typename Fn>
std::vector<std::string> fused(Fn f, ValueList inputs,
                               std::vector<std::string> disabled = {}) {
  const Passed passed = run_passes(f, std::move(inputs), std::move(disabled));
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

// Small numbers: the bound of wrong_result is absolute as well.
Tensor filter(int64_t features, int64_t channels) {
  return random_tensor({features, channels, 3, 3}, 3);
}

const Tensor kImage = random_tensor({2, 16, 12, 9});

TEST(Winograd, EpilogueJoins) {
  const Tensor bias = random_tensor({24}, 4);
  const Tensor scale = random_tensor({1, 24, 1, 1}, 5);
  EXPECT_THAT(
      fused(
          [&](Value x) {
            const Value y =
                F::conv2d(x, filter(24, 16), bias, Value(1), Value(1));
            return F::silu(y * scale);
          },
          {kImage}),
      ElementsAre("rows: materialize", "contraction: winograd+add+mul+silu",
                  "rows: materialize"));
}

TEST(Winograd, ResidualIsReadInTheEpilogue) {
  EXPECT_THAT(
      fused(
          [](Value x) {
            const Value y =
                F::relu(F::conv2d(x, filter(16, 16), None, Value(1), Value(1)));
            return F::relu(
                F::conv2d(y, filter(16, 16), None, Value(1), Value(1)) + y);
          },
          {kImage}),
      ElementsAre("rows: materialize", "contraction: winograd+relu",
                  "contraction: winograd+add+relu", "rows: materialize"));
}

// A factor for each image and channel is a batch's row.
TEST(Winograd, FactorsOfImagesAreReadInTheEpilogue) {
  EXPECT_THAT(fused(
                  [](Value x, Value gate) {
                    return F::conv2d(x, filter(16, 16), None, Value(1),
                                     Value(1)) *
                           sigmoid(gate);
                  },
                  {kImage, random_tensor({2, 16, 1, 1}, 7)}),
              Contains(HasSubstr("contraction: winograd+mul")));
}

TEST(Winograd, NotWhereItCannotBeOrDoesNotPay) {
  const auto conv = [](const Tensor& weight, int64_t stride, int64_t dilation,
                       int64_t groups) {
    return [=](Value x) {
      return F::conv2d(x, weight, None, Value(stride), Value(1),
                       Value(dilation), Value(groups));
    };
  };
  const auto is_direct = Not(Contains(HasSubstr("winograd")));
  EXPECT_THAT(fused(conv(filter(16, 16), 2, 1, 1), {kImage}), is_direct);
  EXPECT_THAT(fused(conv(filter(16, 16), 1, 2, 1), {kImage}), is_direct);
  EXPECT_THAT(fused(conv(filter(32, 8), 1, 1, 2), {kImage}), is_direct);
  EXPECT_THAT(fused(conv(filter(15, 16), 1, 1, 1), {kImage}), is_direct);
  EXPECT_THAT(
      fused(conv(filter(32, 3), 1, 1, 1), {random_tensor({1, 3, 12, 12})}),
      is_direct);
  // One pixel has one tap that is not padding.
  EXPECT_THAT(
      fused(conv(filter(16, 16), 1, 1, 1), {random_tensor({1, 16, 1, 1})}),
      is_direct);
  EXPECT_THAT(fused([](Value x, Value w) { return F::conv2d(x, w); },
                    {kImage, filter(16, 16)}),
              is_direct);
}

TEST(Winograd, CanBeDisabled) {
  EXPECT_THAT(fused([](Value x) { return F::conv2d(x, filter(16, 16)); },
                    {kImage}, {"winograd"}),
              Not(Contains(HasSubstr("winograd"))));
}

}  // namespace TEST_FILE
}  // namespace fxjit
