// Packed panels of weights of any shape and order of memory, against what their
// definition says, element by element.
#include "src/weights/panels.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <vector>

namespace fxjit::weights {
namespace TEST_FILE {

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

// Where the matrix lies: its steps, in elements.
struct Order {
  int64_t depth_stride, column_stride;
};

std::vector<Order> orders(int64_t depth, int64_t columns) {
  return {{1, depth},
          {1, depth + 3},
          {columns, 1},
          {columns + 1, 1},
          {2, 2 * depth + 1}};
}

std::vector<float> numbers(size_t count) {
  std::vector<float> made(count);
  for (size_t i = 0; i < count; ++i) made[i] = static_cast<float>(i) + 0.5f;
  return made;
}

// Sources of `first` and `columns` - `first` columns, side by side.
void expect_packed(int64_t depth, int64_t columns, int64_t first, Order order,
                   const std::vector<float>& from, bool decayed) {
  constexpr int64_t kWidth = 8;
  const PackSource sources[] = {
      {from.data(), order.depth_stride, order.column_stride, first},
      {from.data() + first * order.column_stride, order.depth_stride,
       order.column_stride, columns - first}};
  std::vector<float> out(
      static_cast<size_t>(packed_elements(depth, columns, kWidth)), 99);
  EXPECT_EQ(pack_panels(sources, depth, kWidth, out.data()), decayed);
  const int64_t rows = packed_depth(depth);
  for (int64_t i = 0; i < static_cast<int64_t>(out.size()); ++i) {
    const int64_t k = i / kWidth % rows;
    const int64_t n = i / (rows * kWidth) * kWidth + i % kWidth;
    const float expected =
        k < depth && n < columns
            ? normal_or_zero(from[static_cast<size_t>(k * order.depth_stride +
                                                      n * order.column_stride)])
            : 0;
    ASSERT_EQ(bits(out[static_cast<size_t>(i)]), bits(expected))
        << depth << " x " << columns << ", steps " << order.depth_stride << ", "
        << order.column_stride << ", at " << k << ", " << n;
  }
}

TEST(Panels, OfEveryShapeAndOrder) {
  for (int64_t depth : {0, 1, 3, 4, 5, 16, 18, 33})
    for (int64_t columns : {1, 2, 4, 7, 8, 9, 21, 24})
      for (const Order& order : orders(depth, columns)) {
        const auto from =
            numbers(static_cast<size_t>(2 * (depth + 4) * (columns + 4) * 2));
        for (int64_t first : {int64_t{0}, columns / 2, columns})
          expect_packed(depth, columns, first, order, from, false);
      }
}

// Of each kind of number at each place of a square of four.
TEST(Panels, NumbersBelowTheSmallestNormalOneAreZeros) {
  using Limits = std::numeric_limits<float>;
  constexpr float kNumbers[] = {Limits::denorm_min(),
                                -Limits::denorm_min(),
                                Limits::min() / 2,
                                -Limits::min() / 2,
                                Limits::min(),
                                -Limits::min(),
                                0.0f,
                                -0.0f,
                                Limits::infinity(),
                                -Limits::infinity(),
                                Limits::quiet_NaN(),
                                -Limits::quiet_NaN()};
  constexpr int64_t kDepth = 6, kColumns = 7;
  for (const Order& order : orders(kDepth, kColumns))
    for (float number : kNumbers)
      for (int64_t k = 0; k < kDepth; ++k)
        for (int64_t n = 0; n < kColumns; ++n) {
          auto from = numbers(200);
          from[static_cast<size_t>(k * order.depth_stride +
                                   n * order.column_stride)] = number;
          expect_packed(kDepth, kColumns, 3, order, from,
                        is_below_normal(number));
        }
}

}  // namespace TEST_FILE
}  // namespace fxjit::weights
