// Pooling of images whose channels lie innermost keeps them there.

#include <algorithm>

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

const Tensor kWindow = random_tensor({9, 3, 3, 3}, 3);
const Tensor kInput = random_tensor({2, 3, 9, 8});

template <typename Fn>
std::vector<std::string> fused(Fn pool, const Tensor& input = kInput) {
  const Passed passed = run_passes(
      [&](Value x) {
        return pool(F::relu(F::conv2d(x, kWindow, None, Value(1), Value(1))));
      },
      {input});
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

TEST(LowerPool, KeepsChannelsLast) {
  EXPECT_THAT(fused([](Value y) { return F::max_pool2d(y, Value(2)); }),
              Contains(HasSubstr("window")));
  EXPECT_THAT(fused([](Value y) {
                return F::max_pool2d(y, Value(3), Value(2), Value(1), Value(1),
                                     true);
              }),
              Contains(HasSubstr("window")));
  EXPECT_THAT(fused([](Value y) {
                return F::avg_pool2d(y, Value(3), Value(2), Value(1), true,
                                     false);
              }),
              Contains(HasSubstr("window")));
}

TEST(LowerPool, AdaptivePoolingIsComposed) {
  for (int64_t size : {1, 3, 4})
    EXPECT_THAT(
        fused([&](Value y) { return F::adaptive_avg_pool2d(y, Value(size)); }),
        Not(Contains(HasSubstr("window"))));
}

// Results have the captured strides, those of single places included.
TEST(LowerPool, OnePlaceIsLeft) {
  fused([](Value y) { return F::adaptive_avg_pool2d(y, Value(1)); });
  fused([](Value y) { return F::max_pool2d(y, Value(8)); });
  fused([](Value y) { return mean(y, Value(Dims{2, 3}), true); },
        random_tensor({1, 3, 9, 8}));
}

// Planes that are too narrow for loops over them are turned.
TEST(LowerPool, NarrowPlanesAreTurned) {
  const Passed passed =
      run_passes([](Value x) { return F::max_pool2d(x, Value(2)); }, {kInput});
  EXPECT_EQ(wrong_result(passed), "");
  EXPECT_THAT(regions(passed.model), AllOf(Contains(HasSubstr("materialize")),
                                           Contains(HasSubstr("window"))));
}

// Windows of very many elements go along one dim after the other.
TEST(LowerPool, LargeWindowsAreSeparated) {
  const Passed passed =
      run_passes([](Value x) { return F::avg_pool2d(x, Value(16), Value(3)); },
                 {random_tensor({1, 3, 40, 41})});
  EXPECT_EQ(wrong_result(passed), "");
  const auto all = regions(passed.model);
  EXPECT_EQ(std::ranges::count_if(all,
                                  [](const std::string& region) {
                                    return region.find("window") != region.npos;
                                  }),
            2);
}

TEST(LowerPool, EmptyBatches) {
  EXPECT_THAT(fused([](Value y) { return F::max_pool2d(y, Value(2)); },
                    random_tensor({0, 3, 9, 8})),
              Not(Contains(HasSubstr("window"))));
}

}  // namespace TEST_FILE
}  // namespace fxjit
