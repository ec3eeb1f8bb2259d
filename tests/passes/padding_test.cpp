// Zeros around convolutions, which become their padding, and what does not.
#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

const Tensor kInput = random_tensor({2, 6, 7, 8});
const Tensor kWeight = random_tensor({4, 6, 3, 2}, 3);
const Tensor kWindow = random_tensor({6, 1, 3, 3}, 4);

template <typename Fn>
bool fires(Fn f) {
  const Passed passed = run_passes(f, {kInput});
  EXPECT_EQ(wrong_result(passed), "");
  return std::ranges::find(passed.changed, "fuse_padding") !=
         passed.changed.end();
}

Value padded(const Value& x, std::vector<int64_t> pads, Value fill = 0) {
  ValueList list(pads.begin(), pads.end());
  return F::pad(x, Value::list(std::move(list)), "constant", std::move(fill));
}

TEST(FusePadding, ZerosBehindArePadding) {
  EXPECT_TRUE(fires([](Value x) {
    return F::conv2d(padded(x, {0, 1, 0, 1}), kWeight, None, Value(2));
  }));
  EXPECT_TRUE(fires([](Value x) {
    return F::relu(F::conv2d(padded(x, {0, 1}), kWeight));
  }));
  EXPECT_TRUE(fires([](Value x) {
    return F::conv2d(padded(x, {0, 2, 1, 2}), kWindow, None, Value(2), Value(1),
                     Value(1), Value(6));
  }));
}

TEST(FusePadding, OtherNumbersAndOtherReadersKeepTheirCopy) {
  EXPECT_FALSE(fires([](Value x) {
    return F::conv2d(padded(x, {0, 1, 0, 1}, 1.0), kWeight);
  }));
  EXPECT_FALSE(fires([](Value x) {
    return F::conv2d(padded(x, {0, -1, 0, 1}), kWeight);
  }));
  EXPECT_FALSE(fires([](Value x) {
    return F::conv2d(padded(x, {0, 0, 0, 0, 1, 1}),
                     random_tensor({4, 8, 3, 2}, 5));
  }));
  EXPECT_FALSE(fires([](Value x) {
    return F::conv2d(F::pad(x, Value::list({1, 1}), "reflect"), kWeight);
  }));
  // The padded image is read by somebody else as well.
  EXPECT_TRUE(fires([](Value x) {
    const Value y = padded(x, {0, 1, 0, 1});
    return sum(F::conv2d(y, kWeight)) + sum(y);
  }));
}

}  // namespace TEST_FILE
}  // namespace fxjit
