// Copies of short runs against copies element by element.
#include "kernels/copies/run_copy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

std::vector<float> in_order(const float* in, const Dims& sizes,
                            const Dims& strides) {
  std::vector<float> result;
  for (int64_t i = 0; i < numel(sizes); ++i) {
    int64_t place = 0, rest = i;
    for (int d = sizes.size() - 1; d >= 0; --d) {
      place += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    result.push_back(in[place]);
  }
  return result;
}

// In two parts, which meet anywhere.
void expect_copy(const Dims& sizes, const Dims& strides) {
  const auto runs = program::short_runs(sizes, strides);
  ASSERT_TRUE(runs) << sizes.str() << " " << strides.str();
  const RunCopy copy(*runs);
  EXPECT_EQ(copy.elements(), numel(sizes));
  int64_t extent = 1;
  for (int d = 0; d < sizes.size(); ++d) extent += (sizes[d] - 1) * strides[d];
  const Tensor in = random_tensor({extent}, DType::f32, 1);
  std::vector<float> out(static_cast<size_t>(numel(sizes)), 99);
  const int64_t part = copy.blocks() / 3;
  copy.run(in.data_as<float>(), out.data(), 0, part);
  copy.run(in.data_as<float>(), out.data(), part, copy.blocks());
  EXPECT_EQ(out, in_order(in.data_as<float>(), sizes, strides));
}

TEST(RunCopy, RunsOfEveryLength) {
  for (int64_t run = 2; run < 16; ++run) {
    expect_copy({3, 5, 7, run}, {1000, 3 * run, 40 * run, 1});
    expect_copy({2, 900, 6, run}, {90000, 6 * run + 1, run + 3, 1});
  }
}

TEST(RunCopy, DimsOfOneElementAndExpandedOnes) {
  expect_copy({1, 4, 1, 3, 1, 4}, {7, 24, 5, 5, 9, 1});
  expect_copy({6, 5, 8}, {0, 8 * 3, 1});
}

// One dim that is longer than a block, with a rest.
TEST(RunCopy, LongDims) {
  expect_copy({3, 10001, 2}, {50000, 3, 1});
  expect_copy({20001, 4}, {5, 1});
}

TEST(RunCopy, OthersAreLeft) {
  EXPECT_FALSE(program::short_runs({10, 16}, {20, 1}));
  EXPECT_FALSE(program::short_runs({10, 4}, {1, 10}));
  EXPECT_FALSE(program::short_runs({10, 4}, {4, 1}));
  EXPECT_FALSE(program::short_runs({4}, {1}));
  EXPECT_FALSE(program::short_runs({0, 4}, {5, 1}));
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
