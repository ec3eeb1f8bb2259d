// Lowering ends, and is right, for tensors in every order of memory: what is
// put in memory order may look like channels last again.
#include <algorithm>
#include <numeric>

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

// Views of the same sizes whose dims lie in memory in each order.
std::vector<Tensor> in_each_order(const Dims& sizes) {
  std::vector<Tensor> views;
  std::vector<int> order(static_cast<size_t>(sizes.size()));
  std::iota(order.begin(), order.end(), 0);
  do {
    Dims memory, strides(sizes.size(), 0);
    for (int d : order) memory.push_back(sizes[d]);
    const Tensor packed = random_tensor(memory, 1);
    for (size_t i = 0; i < order.size(); ++i)
      strides[order[i]] = packed.strides()[static_cast<int>(i)];
    views.push_back(packed.as_strided(sizes, strides, 0));
  } while (std::next_permutation(order.begin(), order.end()));
  return views;
}

// Inputs are contiguous: the orders are those of nodes.
Value in_order_of(const Value& x, const Tensor& view) {
  return as_strided(x * 1.0, view.sizes(), view.strides());
}

const std::vector<Dims> kShapes = {
    {2, 3, 4},    {1, 3, 4},    {2, 3, 1},       {4, 1, 1},
    {2, 3, 4, 1}, {2, 3, 1, 4}, {2, 1, 3, 1},    {2, 3, 4, 2},
    {1, 3, 4, 5}, {5, 1, 1, 1}, {2, 3, 2, 1, 2}, {2, 2, 1, 3, 1}};

template <typename Fn>
void expect_right(Fn f) {
  for (const Dims& sizes : kShapes)
    for (const Tensor& view : in_each_order(sizes)) {
      const Passed passed = run_passes(
          [&](Value x, Value y) { return f(in_order_of(x, view), y); },
          {random_tensor(sizes, 2), random_tensor(sizes, 3)});
      EXPECT_EQ(wrong_result(passed), "")
          << sizes.str() << " in " << view.strides().str();
    }
}

TEST(MemoryOrder, Concatenations) {
  for (int64_t dim : {0, 1, -1})
    expect_right([&](Value x, Value y) { return cat({x, y}, dim); });
}

TEST(MemoryOrder, ElementwiseCalls) {
  expect_right([](Value x, Value y) { return sin(x) + x * y; });
  expect_right([](Value x, Value y) { return cat({x + y, x}, 0) * 2.0; });
}

TEST(MemoryOrder, Reductions) {
  for (int64_t dim : {0, 1, -1}) {
    expect_right([&](Value x, Value y) { return sum(x, dim) + sum(y, dim); });
    expect_right([&](Value x, Value y) { return amax(x, dim, true) * y; });
  }
}

TEST(MemoryOrder, PickingAndTurning) {
  expect_right([](Value x, Value y) { return flip(x, {0, 1}) - y; });
  expect_right([](Value x, Value y) {
    return index_select(x, -1, Tensor::zeros({2}, DType::i64)) + sum(y);
  });
}

TEST(MemoryOrder, BroadcastViews) {
  for (const Dims& sizes : kShapes) {
    const Passed passed = run_passes(
        [&](Value x, Value y) {
          const Value line = narrow(x + 1.0, 0, 0, 1);
          return sin(expand(line, Value(sizes))) + sum(cat({y, line}, 0), 0);
        },
        {random_tensor(sizes, 2), random_tensor(sizes, 3)});
    EXPECT_EQ(wrong_result(passed), "") << sizes.str();
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
