// Views of memory that lies otherwise see the same elements.
#include "src/program/planning/moved_view.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace fxjit::program {
namespace TEST_FILE {

// Where each element lies, in order of the indices.
std::vector<int64_t> places(const Dims& sizes, const Dims& strides,
                            int64_t start) {
  std::vector<int64_t> all;
  for (int64_t point = 0; point < numel(sizes); ++point) {
    int64_t rest = point, at = start;
    for (int d = sizes.size() - 1; d >= 0; --d) {
      at += rest % sizes[d] * strides[d];
      rest /= sizes[d];
    }
    all.push_back(at);
  }
  return all;
}

// Strides in a random order of the dims; with gaps, each step is longer.
Dims random_strides(const Dims& sizes, std::mt19937& draw, bool gaps) {
  std::vector<int> order;
  for (int d = 0; d < sizes.size(); ++d) order.push_back(d);
  std::ranges::shuffle(order, draw);
  Dims strides(sizes.size(), 1);
  int64_t next = 1;
  for (const int d : order) {
    strides[d] = next;
    next *= sizes[d] + (gaps ? draw() % 3 : 0);
  }
  return strides;
}

int64_t below(std::mt19937& draw, int64_t bound) {
  return static_cast<int64_t>(draw() % static_cast<uint64_t>(bound));
}

// A part of the value with a step along each dim, its dims in any order, some
// cut in two.
std::pair<Tensor, int64_t> random_view(const Tensor& val, std::mt19937& draw) {
  std::vector<std::pair<int64_t, int64_t>> dims;
  int64_t offset = 0;
  for (int d = 0; d < val.dim(); ++d) {
    const int64_t step = 1 + below(draw, 2);
    const int64_t start = below(draw, val.size(d));
    const int64_t most = (val.size(d) - start + step - 1) / step;
    const int64_t size = 1 + below(draw, most);
    const int64_t stride = step * val.stride(d);
    offset += start * val.stride(d);
    if (size % 2 == 0 && draw() % 2 == 0) {
      dims.emplace_back(size / 2, 2 * stride);
      dims.emplace_back(2, stride);
    } else {
      dims.emplace_back(size, stride);
    }
  }
  std::ranges::shuffle(dims, draw);
  Dims sizes, strides;
  for (const auto& [size, stride] : dims) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
  return {Tensor::meta(sizes, DType::f32, strides), offset};
}

TEST(MovedViews, SeeTheSameElements) {
  std::mt19937 draw(1);
  int moved_ones = 0;
  for (int round = 0; round < 3000; ++round) {
    Dims sizes;
    for (int64_t d = below(draw, 4) + 1; d > 0; --d)
      sizes.push_back(1 + below(draw, 5));
    const Tensor val =
        Tensor::meta(sizes, DType::f32, random_strides(sizes, draw, false));
    const Dims moved = random_strides(sizes, draw, true);
    std::map<int64_t, int64_t> went;
    const auto from = places(sizes, val.strides(), 0);
    const auto to = places(sizes, moved, 0);
    for (size_t i = 0; i < from.size(); ++i) went[from[i]] = to[i];
    const auto [view, offset] = random_view(val, draw);
    const auto seen = move_view(view, offset, val, moved);
    ASSERT_TRUE(seen) << sizes.str() << val.strides().str() << moved.str();
    ++moved_ones;
    const auto before = places(view.sizes(), view.strides(), offset);
    const auto after = places(view.sizes(), seen->val.strides(), seen->offset);
    for (size_t i = 0; i < before.size(); ++i)
      ASSERT_EQ(after[i], went.at(before[i])) << round;
  }
  EXPECT_EQ(moved_ones, 3000);
}

Tensor value(Dims sizes) { return Tensor::meta(std::move(sizes), DType::f32); }

TEST(MovedViews, TakeDimsTogetherThatStayTogether) {
  // Rows of 4 channels in rows of 10.
  const auto flat = move_view(value({6, 4}), 0, value({2, 3, 4}), {30, 10, 1});
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->val.strides(), (Dims{10, 1}));
  EXPECT_FALSE(move_view(value({24}), 0, value({2, 3, 4}), {30, 10, 1}));
  EXPECT_FALSE(move_view(value({6, 4}), 0, value({2, 3, 4}), {32, 10, 1}));
  EXPECT_FALSE(move_view(value({2, 12}), 0, value({2, 3, 4}), {30, 10, 1}));
}

TEST(MovedViews, LieInside) {
  const Tensor val = value({3, 4});
  EXPECT_FALSE(move_view(value({4}), 9, val, {10, 1}));
  EXPECT_FALSE(move_view(value({1}), 12, val, {10, 1}));
  EXPECT_FALSE(move_view(value({1}), -1, val, {10, 1}));
  const auto last = move_view(value({1}), 11, val, {10, 1});
  ASSERT_TRUE(last);
  EXPECT_EQ(last->offset, 23);
  const Tensor repeated = Tensor::meta({2, 4}, DType::f32, {0, 1});
  EXPECT_FALSE(move_view(val, 0, repeated, {10, 1}));
  const auto expanded = move_view(repeated, 4, val, {10, 1});
  ASSERT_TRUE(expanded);
  EXPECT_EQ(expanded->val.strides(), (Dims{0, 1}));
  EXPECT_EQ(expanded->offset, 10);
}

TEST(MovedViews, OrderStays) {
  const Tensor val = value({2, 3, 4});
  EXPECT_TRUE(leaves_order(val, {30, 10, 1}));
  EXPECT_FALSE(leaves_order(val, {10, 30, 1}));
  EXPECT_FALSE(leaves_order(val, {12, 4, 24}));
  EXPECT_FALSE(leaves_order(val, {24, 8, 2}));
  EXPECT_TRUE(leaves_order(value({1, 3, 1}), {7, 1, 5}));
}

}  // namespace TEST_FILE
}  // namespace fxjit::program
