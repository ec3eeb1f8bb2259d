// Group and instance norm of images with channels innermost: nothing of the
// image's size is copied, results are the captured graph's.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

const Tensor kWindow = random_tensor({12, 6, 3, 3}, 3);
const Tensor kWeight = random_tensor({12}, 4), kBias = random_tensor({12}, 5);

Value convolved(const Value& x) {
  return F::conv2d(x, kWindow, None, Value(1), Value(1));
}

template <typename Fn>
int copies(Fn norm, const Tensor& input = random_tensor({2, 6, 9, 8})) {
  const Passed passed =
      run_passes([&](Value x) { return norm(convolved(x)); }, {input});
  EXPECT_EQ(wrong_result(passed), "");
  int count = 0;
  for (const std::string& region : regions(passed.model))
    count += region == "rows: materialize";
  return count;
}

TEST(GroupNorm, CopiesOnlyStatistics) {
  const int plain = copies([](Value y) { return F::relu(y); });
  for (int64_t groups : {1, 3, 4, 12}) {
    // Spread over the channels of a group.
    const int statistics = groups == 1 || groups == 12 ? 0 : 2;
    EXPECT_EQ(copies([&](Value y) {
                return F::silu(F::group_norm(y, groups, kWeight, kBias, 1e-3));
              }),
              plain + statistics)
        << groups;
    copies([&](Value y) { return F::group_norm(y, groups); });
    copies([&](Value y) { return F::group_norm(y, groups, kWeight); });
    copies([&](Value y) { return F::group_norm(y, groups, None, kBias); });
  }
}

TEST(GroupNorm, InstanceNorm) {
  copies([](Value y) { return function("F.instance_norm", {y}); });
  copies([](Value y) {
    return function("F.instance_norm",
                    {y, None, None, kWeight, kBias, true, 0.1, 1e-3});
  });
}

TEST(GroupNorm, FarFromZero) {
  copies([](Value y) { return F::group_norm(y + 3.0, 3, kWeight, kBias); });
}

TEST(GroupNorm, SmallAndEmptyImages) {
  copies([](Value y) { return F::group_norm(y, 3); },
         random_tensor({1, 6, 1, 2}));
  copies([](Value y) { return F::group_norm(y, 3); },
         random_tensor({2, 6, 1, 1}));
  copies([](Value y) { return F::group_norm(y, 3); },
         random_tensor({0, 6, 4, 4}));
}

}  // namespace TEST_FILE
}  // namespace fxjit
