// Windows over planes and over places with channels innermost, against plain
// loops in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/jit/emulated.h"
#include "tests/jit/jit_test_util.h"
#include "tests/jit/window_problem.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::WindowCombine;
using testing::make_window;
using testing::WindowProblem;
using testing::WindowSizes;

class Windows : public ::testing::TestWithParam<CpuLevel> {};

void expect_right(const WindowSizes& sizes, CpuLevel level, bool with_silu,
                  int64_t gap, int threads, uint32_t seed = 1,
                  std::optional<float> special = {}) {
  const auto step = make_window(sizes, with_silu);
  if (!step) return;
  SCOPED_TRACE(::testing::Message()
               << sizes.images << " x " << sizes.channels << " x "
               << sizes.multiplier << sizes.sizes.str() << " taps "
               << sizes.taps.str() << " strides " << sizes.strides.str()
               << " dilations " << sizes.dilations.str() << " pads "
               << sizes.pads.str() << " combine "
               << static_cast<int>(sizes.combine) << " gap " << gap
               << (sizes.channels_inner ? ", channels inner" : ", planes"));
  WindowProblem problem(*step, gap, seed);
  if (special) {
    // By turns among the weights and in the input.
    std::vector<float>& numbers =
        seed % 8 < 2 ? problem.weights() : problem.input();
    numbers[numbers.size() / 2] = *special;
  }
  problem.run(level, threads);
  problem.expect_right();
}

TEST_P(Windows, OfLayersOfNets) {
  const WindowSizes cases[] = {
      {1, 3, 1, {1, 56, 56}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {2, 2, 2, {1, 19, 19}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 3, 1, {1, 33, 64}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
      {1, 2, 1, {1, 28, 28}, {1, 5, 5}, {1, 2, 2}, {1, 1, 1}, {0, 2, 2}},
      {1, 2, 1, {1, 14, 40}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {0, 3, 3}},
      {1, 2, 1, {1, 120, 130}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 2, 1, {3, 7, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
  };
  for (const WindowSizes& sizes : cases)
    for (bool with_silu : {false, true})
      for (int threads : {1, 8})
        expect_right(sizes, GetParam(), with_silu, 0, threads);
}

TEST_P(Windows, OfLayersWithChannelsInnermost) {
  const WindowSizes cases[] = {
      {1, 32, 1, {1, 56, 56}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {2, 19, 1, {1, 7, 7}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 40, 1, {1, 33, 64}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
      {1, 12, 1, {1, 28, 28}, {1, 5, 5}, {1, 2, 2}, {1, 1, 1}, {0, 2, 2}},
      {1, 24, 1, {1, 14, 14}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {0, 3, 3}},
      {1, 5, 1, {1, 12, 13}, {1, 3, 3}, {1, 1, 1}, {1, 2, 2}, {0, 2, 2}},
      {1, 3, 1, {3, 7, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
      {1, 16, 1, {1, 1, 1}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 13, 2, {1, 9, 9}, {1, 7, 7}, {1, 2, 2}, {1, 1, 1}, {0, 3, 3}},
      {2, 5, 4, {1, 6, 9}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 16, 1, {1, 0, 4}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 2, 1}},
  };
  for (WindowSizes sizes : cases) {
    sizes.channels_inner = true;
    for (bool with_silu : {false, true})
      for (int threads : {1, 8})
        expect_right(sizes, GetParam(), with_silu, 0, threads);
  }
}

// Groups whose results are one or several vectors, parts of one, or no whole
// number of them; images of few channels.
TEST_P(Windows, OfGroups) {
  struct Group {
    int64_t groups, results, channels;
  };
  const Group groups[] = {
      {8, 2, 2},  {6, 4, 4},  {4, 8, 8},   {2, 16, 16}, {3, 12, 12},
      {16, 2, 2}, {5, 6, 6},  {2, 24, 5},  {1, 16, 3},  {1, 64, 3},
      {1, 24, 1}, {1, 13, 4}, {1, 128, 2}, {2, 4, 9},   {24, 3, 3},
      {7, 3, 3},  {16, 5, 5}, {3, 5, 5},   {8, 6, 6},   {5, 7, 7},
      {6, 1, 4},  {32, 1, 2}, {10, 2, 5},  {4, 9, 9},   {6, 10, 3},
      {5, 12, 2}, {12, 3, 8}, {4, 4, 3},   {2, 18, 4},  {3, 11, 1}};
  const auto infinity = std::numeric_limits<float>::infinity();
  std::mt19937 random(3);
  const auto one_of = [&](std::initializer_list<int64_t> numbers) {
    return numbers.begin()[random() % numbers.size()];
  };
  for (const Group& group : groups)
    for (uint32_t i = 0; i < 8; ++i) {
      WindowSizes sizes;
      sizes.images = one_of({1, 1, 2});
      sizes.channels = group.groups, sizes.multiplier = group.results;
      sizes.group_channels = group.channels;
      sizes.sizes = {one_of({1, 1, 2}), one_of({1, 5, 9}),
                     one_of({1, 3, 14, 30})};
      sizes.taps = {1, one_of({1, 3, 3}), one_of({1, 3, 5})};
      sizes.strides = {1, one_of({1, 2}), one_of({1, 2, 3})};
      sizes.dilations = {1, one_of({1, 2}), one_of({1, 1, 2})};
      sizes.pads = {0, one_of({0, 1, 2}), one_of({0, 1, 4})};
      sizes.channels_inner = true;
      sizes.has_bias = i % 3 != 0;
      // Of groups with few results, channels lie side by side.
      const bool planes = one_of({0, 1}) == 1 && group.results >= 4 &&
                          group.channels != group.results;
      const auto step = make_window(sizes, i % 2 == 0);
      if (!step) continue;
      SCOPED_TRACE(::testing::Message()
                   << group.groups << " x " << group.channels << " x "
                   << group.results << sizes.sizes.str() << " taps "
                   << sizes.taps.str() << " strides " << sizes.strides.str()
                   << " dilations " << sizes.dilations.str() << " pads "
                   << sizes.pads.str() << (planes ? ", planes" : ""));
      WindowProblem problem(*step, one_of({0, 3}), i, planes);
      if (i % 4 == 1) problem.weights()[i] = infinity;
      if (i % 4 == 2) problem.input()[i] = -infinity;
      problem.run(GetParam(), i % 2 == 0 ? 1 : 8);
      problem.expect_right();
    }
}

// Large windows and narrow images in planes, which are turned on the way;
// volumes are not.
TEST_P(Windows, OfTurnedPlanes) {
  const WindowSizes cases[] = {
      {1, 11, 1, {1, 14, 40}, {1, 7, 7}, {1, 1, 1}, {1, 1, 1}, {0, 3, 3}},
      {2, 8, 1, {1, 9, 19}, {1, 7, 5}, {1, 2, 2}, {1, 1, 1}, {0, 3, 1}},
      {1, 9, 1, {1, 12, 33}, {1, 5, 7}, {1, 1, 1}, {1, 2, 3}, {0, 4, 9}},
      {1, 9, 1, {1, 30, 24}, {1, 6, 6}, {1, 9, 1}, {1, 1, 1}, {0, 0, 0}},
      {1, 8, 1, {1, 3, 8}, {1, 9, 9}, {1, 1, 1}, {1, 1, 1}, {0, 4, 4}},
      {2, 19, 1, {1, 14, 14}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 16, 1, {1, 18, 22}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
      {1, 8, 1, {3, 9, 12}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
  };
  const auto infinity = std::numeric_limits<float>::infinity();
  uint32_t seed = 0;
  for (const WindowSizes& sizes : cases)
    for (int threads : {1, 8}) {
      expect_right(sizes, GetParam(), true, 0, threads);
      expect_right(sizes, GetParam(), false, 3, threads, seed++, infinity);
      expect_right(sizes, GetParam(), false, 3, threads, seed++ + 8, infinity);
    }
}

// Wherever a NaN is, the maxima that see it are NaN and no others: in each
// plane another element is one.
TEST_P(Windows, OfMaximaWithNan) {
  const WindowSizes cases[] = {
      {1, 1, 1, {1, 5, 37}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
      {1, 1, 1, {1, 4, 49}, {1, 2, 3}, {1, 1, 2}, {1, 1, 1}, {0, 0, 0}},
      {1, 1, 1, {1, 3, 50}, {1, 3, 5}, {1, 2, 2}, {1, 1, 1}, {0, 1, 2}},
      {1, 1, 1, {1, 4, 48}, {1, 2, 2}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0}},
      {1, 1, 1, {1, 4, 20}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 1, 1, {1, 3, 40}, {1, 3, 13}, {1, 1, 1}, {1, 1, 1}, {0, 1, 0}},
      {1, 1, 1, {1, 3, 30}, {1, 3, 3}, {1, 1, 1}, {1, 1, 4}, {0, 1, 4}},
      {1, 1, 1, {1, 2, 50}, {1, 2, 3}, {1, 1, 3}, {1, 1, 2}, {0, 0, 1}},
      {1, 1, 1, {2, 3, 12}, {2, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
  };
  for (WindowSizes sizes : cases) {
    sizes.combine = WindowCombine::maximum;
    sizes.has_bias = false;
    sizes.channels = numel(sizes.sizes);
    WindowProblem problem(*make_window(sizes, false), 0, 1);
    for (int64_t i = 0; i < sizes.channels; ++i)
      problem.input()[size_t(i * sizes.channels + i)] =
          std::numeric_limits<float>::quiet_NaN();
    SCOPED_TRACE(::testing::Message()
                 << sizes.sizes.str() << " taps " << sizes.taps.str());
    problem.run(GetParam(), 1);
    problem.expect_right();
  }
}

// Tiles along a row that hand on a column.
TEST_P(Windows, OfEverySecondColumn) {
  const WindowSizes cases[] = {
      {1, 2, 1, {1, 15, 112}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
      {1, 2, 1, {1, 9, 33}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
      {1, 2, 1, {1, 9, 50}, {1, 2, 3}, {1, 1, 2}, {1, 1, 1}, {0, 0, 0}},
      {1, 2, 1, {1, 9, 70}, {1, 5, 3}, {1, 3, 2}, {1, 1, 1}, {0, 2, 3}},
      {1, 2, 1, {3, 9, 40}, {2, 3, 3}, {2, 2, 2}, {1, 2, 1}, {1, 1, 1}},
  };
  for (WindowSizes sizes : cases)
    for (WindowCombine combine : {WindowCombine::maximum, WindowCombine::sums})
      for (int64_t gap : {0, 3}) {
        sizes.combine = combine;
        sizes.has_bias = false;
        if (combine == WindowCombine::maximum && sizes.pads[2] > 1) continue;
        expect_right(sizes, GetParam(), gap == 0, gap, 1);
      }
}

TEST_P(Windows, OfRandomForms) {
  std::mt19937 random(7);
  const auto one_of = [&](std::initializer_list<int64_t> numbers) {
    return numbers.begin()[random() % numbers.size()];
  };
  for (uint32_t i = 0; i < 48; ++i) {
    WindowSizes c{};
    c.images = one_of({1, 2}), c.channels = one_of({1, 3});
    c.multiplier = one_of({1, 1, 2});
    c.combine = static_cast<WindowCombine>(one_of({0, 0, 1, 2}));
    c.channels_inner = i % 2 == 0;
    if (c.channels_inner) c.channels = one_of({1, 2, 4, 5, 8, 11, 16, 21, 40});
    if (c.combine != WindowCombine::products ||
        (c.channels_inner && c.channels < 8))
      c.multiplier = 1;
    c.has_bias = c.combine == WindowCombine::products && one_of({0, 1}) != 0;
    for (int d = 0; d < 3; ++d) {
      c.sizes.push_back(d == 0 ? one_of({1, 1, 3})
                               : one_of({1, 3, 8, 9, 17, 24, 37}));
      c.taps.push_back(d == 0 ? one_of({1, 1, 2}) : one_of({1, 2, 3, 3, 5}));
      c.strides.push_back(one_of({1, 1, 2, 3}));
      c.dilations.push_back(one_of({1, 1, 2}));
      const int64_t pad = one_of({0, 1, 2, 9});
      // Every window of a maximum sees an element.
      c.pads.push_back(c.combine == WindowCombine::maximum
                           ? std::min<int64_t>(pad, c.taps[d] / 2)
                           : pad);
    }
    std::optional<float> special;
    if (i % 4 < 2)
      special = one_of({0, 1}) == 0 ? std::numeric_limits<float>::quiet_NaN()
                                    : -std::numeric_limits<float>::infinity();
    expect_right(c, GetParam(), one_of({0, 1}) != 0, one_of({0, 0, 3}),
                 int(one_of({1, 4})), i, special);
  }
}

// The next row is fetched while one is computed.
TEST_P(Windows, OfGroupsInLargeImages) {
  WindowSizes cases[] = {
      {1, 2, 16, {1, 45, 53}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 2, 16, {1, 45, 53}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}}};
  for (WindowSizes& sizes : cases) {
    sizes.group_channels = 16;
    sizes.channels_inner = true;
    auto step = make_window(sizes, false);
    ASSERT_TRUE(step);
    step->steps = {0, 1, 0, 53 * 32, 32};  // Of the problem's input.
    step->analyse({.level = GetParam()});
    EXPECT_TRUE(step->code.fetches_ahead);
    for (int threads : {1, 4})
      expect_right(sizes, GetParam(), false, 0, threads);
  }
}

// Every form, of few places; a weight is infinite or none.
TEST(WindowsElsewhere, OnAnEmulatedCpu) {
  const std::vector<CpuLevel> levels = testing::emulated_levels();
  if (levels.empty())
    GTEST_SKIP() << "there is no build/emulator, which scripts/setup makes, or "
                    "this machine has all levels";
  std::vector<WindowSizes> cases{
      {1, 2, 1, {1, 5, 35}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 1, 2, {1, 6, 40}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
      {1, 17, 1, {1, 4, 18}, {1, 5, 5}, {1, 1, 1}, {1, 1, 1}, {0, 2, 2}},
      {1, 19, 1, {1, 4, 5}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 37, 1, {1, 5, 4}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}},
      {1, 8, 2, {1, 3, 4}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 3, 4, {1, 3, 6}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}},
      {1, 2, 16, {1, 3, 4}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}}};
  for (size_t i = 3; i < cases.size(); ++i) cases[i].channels_inner = true;
  cases[6].group_channels = 4, cases[7].group_channels = 8;
  const auto infinity = std::numeric_limits<float>::infinity();
  for (CpuLevel level : levels)
    for (const WindowSizes& sizes : cases)
      for (int threads : {1, 4}) {
        expect_right(sizes, level, false, 0, threads);
        expect_right(sizes, level, false, 0, threads, 1, infinity);
      }
}

INSTANTIATE_TEST_SUITE_P(Levels, Windows,
                         ::testing::ValuesIn(testing::host_levels()),
                         testing::level_name);

}  // namespace TEST_FILE
}  // namespace fxjit::jit
