// Rows that are cut copy the same elements to the same places.
#include "src/program/planning/builder.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace fxjit::program {
namespace TEST_FILE {

RowStep copy(Dims outer, int64_t inner, Dims from, int64_t from_inner, Dims to,
             int64_t to_inner) {
  RowStep step;
  step.outer = std::move(outer);
  step.inner = inner;
  Access in, out;
  in.outer = std::move(from);
  in.inner = from_inner;
  out.outer = std::move(to);
  out.inner = to_inner;
  step.inputs = {in};
  step.outputs = {out};
  ScalarBuilder body;
  step.body = body.finish({body.input(0, DType::f32)});
  return step;
}

// Source and target of every element.
std::set<std::pair<int64_t, int64_t>> moves(const RowStep& step) {
  std::set<std::pair<int64_t, int64_t>> all;
  for (int64_t point = 0; point < numel(step.outer); ++point) {
    int64_t rest = point, from = 0, to = 0;
    for (int d = step.outer.size() - 1; d >= 0; --d) {
      const int64_t i = rest % step.outer[d];
      rest /= step.outer[d];
      from += i * step.inputs[0].outer[d];
      to += i * step.outputs[0].outer[d];
    }
    for (int64_t i = 0; i < step.inner; ++i)
      all.emplace(from + i * step.inputs[0].inner,
                  to + i * step.outputs[0].inner);
  }
  return all;
}

TEST(CutLongRows, KeepsEveryElement) {
  // [2, 4096, 20] to [2, 20, 4096].
  const RowStep whole =
      copy({2, 20}, 4096, {4096 * 20, 1}, 20, {4096 * 20, 4096}, 1);
  RowStep cut = whole;
  cut_long_rows(cut);
  EXPECT_EQ(cut.outer, (Dims{2, 8, 20}));
  EXPECT_EQ(cut.inner, 512);
  EXPECT_EQ(cut.inputs[0].outer.back(), 1);
  EXPECT_EQ(moves(cut), moves(whole));
}

TEST(CutLongRows, TakesTheLongestPieceThatDivides) {
  RowStep step = copy({16}, 1000, {1}, 16, {1000}, 1);
  cut_long_rows(step);
  EXPECT_EQ(step.outer, (Dims{2, 16}));
  EXPECT_EQ(step.inner, 500);
}

void expect_untouched(const RowStep& step) {
  RowStep cut = step;
  cut_long_rows(cut);
  EXPECT_EQ(cut, step);
}

TEST(CutLongRows, LeavesWhatNeedsNoneOrCannotBeCut) {
  expect_untouched(copy({20}, 512, {1}, 20, {512}, 1));
  expect_untouched(copy({}, 4096, {}, 20, {}, 1));
  // A prime, and 2 * 1009.
  expect_untouched(copy({20}, 1009, {1}, 20, {1009}, 1));
  expect_untouched(copy({20}, 2018, {1}, 20, {2018}, 1));
  // Rows along memory on both sides.
  expect_untouched(copy({20}, 4096, {8192}, 1, {4096}, 1));

  RowStep sum = copy({20}, 4096, {1}, 20, {1}, 0);
  ScalarBuilder body;
  sum.body =
      body.finish({body.apply(Prim::reduce_sum, body.input(0, DType::f32))});
  expect_untouched(sum);

  RowStep gathered = copy({20}, 4096, {1}, 20, {4096}, 1);
  gathered.inputs[0].gather_slot = 0;
  expect_untouched(gathered);
}

}  // namespace TEST_FILE
}  // namespace fxjit::program
