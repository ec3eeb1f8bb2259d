// Convolutions over lines whose windows are runs of memory become products.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace {

const Tensor kFirst = random_tensor({8, 1, 5}, 3);
const Tensor kNext = random_tensor({6, 8, 3}, 4);
const Tensor kBias = random_tensor({6}, 5);

template <typename Fn>
std::vector<std::string> fused(Fn f, const Tensor& input) {
  const Passed passed = run_passes(f, {input});
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

TEST(LineWindows, AreProducts) {
  for (int64_t stride : {1, 2, 3, 7})
    EXPECT_THAT(fused(
                    [&](Value x) {
                      const Value y =
                          F::relu(F::conv1d(x, kFirst, None, Value(stride)));
                      return F::relu(F::conv1d(y, kNext, kBias, Value(2)));
                    },
                    random_tensor({2, 1, 61})),
                Not(Contains(HasSubstr("kernel"))));
}

TEST(LineWindows, WithoutABatch) {
  EXPECT_THAT(fused([](Value x) { return F::conv1d(x, kFirst); },
                    random_tensor({1, 30})),
              Not(Contains(HasSubstr("kernel"))));
}

TEST(LineWindows, OneWindowOnly) {
  EXPECT_THAT(fused([](Value x) { return F::conv1d(x, kFirst); },
                    random_tensor({3, 1, 5})),
              Not(Contains(HasSubstr("kernel"))));
}

TEST(LineWindows, OthersAreConvolutions) {
  const auto padded = [](Value x) {
    return F::conv1d(x, kFirst, None, Value(1), Value(2));
  };
  const auto dilated = [](Value x) {
    return F::conv1d(x, kFirst, None, Value(1), Value(0), Value(2));
  };
  const Tensor line = random_tensor({2, 1, 40});
  EXPECT_THAT(fused(padded, line), Contains("kernel: conv_last"));
  EXPECT_THAT(fused(dilated, line), Contains("kernel: conv_last"));
  // Planes of several channels are no runs of windows.
  EXPECT_THAT(fused([](Value x) { return F::conv1d(x, kNext); },
                    random_tensor({2, 8, 20})),
              Contains("kernel: conv_last"));
  // Every other element of a longer line.
  EXPECT_THAT(fused(
                  [](Value x) {
                    return F::conv1d(
                        function("aten.slice.Tensor", {x, 2, 0, 40, 2}),
                        kFirst);
                  },
                  line),
              Contains("kernel: conv_last"));
}

}  // namespace
}  // namespace fxjit
