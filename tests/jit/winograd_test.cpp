// Winograd convolutions against direct ones in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/jit/jit_test_util.h"
#include "tests/jit/winograd_problem.h"

namespace fxjit::jit {
namespace TEST_FILE {

using testing::WinogradProblem;
using testing::WinogradSizes;

class Winograd : public ::testing::TestWithParam<CpuLevel> {};

TEST_P(Winograd, MatchesDirectConvolutions) {
  const WinogradSizes cases[] = {
      {1, 1, 1, 16, 16},       {1, 4, 4, 16, 16},
      {1, 7, 9, 17, 20},       {2, 5, 6, 31, 33},
      {1, 3, 3, 32, 48, 0},    {1, 13, 2, 40, 16, 2},
      {3, 14, 14, 24, 24},     {1, 28, 9, 18, 72, 0},
      {1, 2, 37, 64, 100},     {1, 9, 7, 16, 40, 1, 2},
      {2, 7, 7, 33, 17, 1, 2}, {1, 12, 12, 20, 96, 0, 2},
      {1, 1, 5, 16, 16, 2, 2},
  };
  for (const WinogradSizes& c : cases) {
    SCOPED_TRACE(::testing::Message()
                 << c.batch << " x " << c.height << " x " << c.width << " x "
                 << c.channels << " to " << c.features << ", F" << c.tile);
    for (bool with_silu : {false, true}) {
      WinogradProblem problem(testing::make_winograd(c, with_silu));
      problem.run(GetParam(), with_silu);
      problem.expect_right(2e-5);
    }
  }
}

TEST_P(Winograd, ReadsStridedInputs) {
  program::WinogradStep step = testing::make_winograd({2, 6, 5, 19, 20});
  step.input_column = 23;
  step.input_row = 5 * 23 + 9;
  step.input_batch = 6 * step.input_row + 40;
  WinogradProblem problem(step);
  problem.run(GetParam());
  problem.expect_right(2e-5);
}

TEST_P(Winograd, ErrorsStayNearThoseOfDirectSums) {
  // Twice the errors of direct sums in f32, which grow with the channels.
  for (const auto& [channels, bound] :
       {std::pair{16, 5.5e-7}, {64, 9e-7}, {256, 1.7e-6}}) {
    WinogradProblem problem(testing::make_winograd({1, 16, 16, channels, 16}));
    problem.run(GetParam());
    EXPECT_LT(problem.errors().rms, bound) << channels;
    EXPECT_LT(problem.errors().max, 16 * bound) << channels;
  }
}

TEST_P(Winograd, NanAndInfinityStayInTheirTiles) {
  for (float special : {std::numeric_limits<float>::quiet_NaN(),
                        std::numeric_limits<float>::infinity()}) {
    WinogradProblem problem(testing::make_winograd({1, 12, 12, 16, 16}));
    problem.input()[(6 * 12 + 6) * 16 + 3] = special;
    problem.run(GetParam());
    for (int64_t y = 0; y < 12; ++y)
      for (int64_t x = 0; x < 12; ++x) {
        const bool same_tile = y / 4 == 1 && x / 4 == 1;
        const bool in_window = std::abs(y - 6) <= 1 && std::abs(x - 6) <= 1;
        if (in_window)
          EXPECT_FALSE(std::isfinite(problem.sum(0, y, x, 5)));
        else if (!same_tile)
          EXPECT_TRUE(std::isfinite(problem.sum(0, y, x, 5))) << y << " " << x;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Winograd,
                         ::testing::ValuesIn(testing::host_levels()),
                         testing::level_name);

}  // namespace TEST_FILE
}  // namespace fxjit::jit
