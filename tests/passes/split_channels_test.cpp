// Images whose channels are seen as groups of channels.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

// What a convolution gives, its channels as [groups, channels / groups].
Value groups_of(const Value& x, const Value& weight) {
  const Value image = F::conv2d(x, weight, Value(), 1, 1);
  return reshape(image, {2, 2, 12, 8, 8});
}

template <typename Fn>
std::vector<std::string> regions_of(Fn fn) {
  const Value weight = random_tensor({24, 8, 3, 3}, 2);
  const Passed passed =
      run_passes([=](Value x) { return fn(groups_of(x, weight)); },
                 {random_tensor({2, 8, 8, 8}, 1)});
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

// The model's result is copied into the order that torch gives it, nothing
// else.
void expect_one_step(const std::vector<std::string>& made, const char* step) {
  ASSERT_THAT(made, SizeIs(3));
  EXPECT_THAT(made[1], HasSubstr(step));
  EXPECT_EQ(made[2], "rows: materialize");
}

TEST(SplitChannels, SumsOverGroupsKeepTheOrder) {
  for (bool keep : {false, true})
    for (int64_t dim : {1, 2, 3, -1})
      expect_one_step(
          regions_of([=](Value x) { return sum(x * x, dim, keep); }),
          "mul+sum");
}

// Factors of groups and channels, and what follows in channels-last order.
TEST(SplitChannels, WeightedSumsAreOneRegion) {
  const Value factors = random_tensor({2, 2, 12, 1, 1}, 3);
  expect_one_step(
      regions_of([=](Value x) { return relu(sum(x * factors, 1)) + 1.0; }),
      "mul+sum+relu+add");
}

TEST(SplitChannels, OtherOrdersAreRight) {
  const Value plain = random_tensor({2, 2, 12, 8, 8}, 3);
  regions_of([=](Value x) { return sum(x + plain, 1); });
  regions_of([=](Value x) { return sum(transpose(x, 1, 2), 1); });
  regions_of([=](Value x) { return softmax(x, 1); });
  regions_of([=](Value x) { return amax(x, Dims{1, 3}) * 2.0; });
}

}  // namespace TEST_FILE
}  // namespace fxjit
