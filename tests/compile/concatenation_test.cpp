// Concatenations whose operands are made in their places: where nothing is left
// to copy, where something must be, and what the memory comes to.
#include <gtest/gtest.h>

#include <algorithm>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::options_for;
using testing::random_tensor;

// Checks the answer on all levels, and against double precision; gives the
// number of copies.
template <typename Fn>
int64_t copies_of(Fn fn, const ValueList& inputs) {
  const auto gm = fx::symbolic_trace(fn, {"x"}, "f");
  int64_t copies = 0;
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      SCOPED_TRACE(cpu_level_name(level));
      compile(*gm, options_for(level, threads));
      EXPECT_EQ(testing::value_difference(gm->forward(inputs),
                                          gm->interpret(inputs), 1e-4, 1e-4),
                "");
      const auto steps = testing::steps_for(*gm, inputs);
      EXPECT_FALSE(steps.empty());
      copies = std::ranges::count(steps, "cat", &testing::StepView::label);
    }
  return copies;
}

// Channels lie innermost, as in what convolutions compute.
Tensor image(int64_t images = 2) {
  return random_tensor({images, 9, 12, 8})
      .as_strided({images, 8, 9, 12}, {864, 1, 96, 8}, 0);
}

Value convolved(const Value& x, int64_t from, int64_t to, int64_t taps) {
  const Tensor weight =
      random_tensor({to, from, taps, taps}, DType::f32, uint32_t(to * taps));
  return F::conv2d(x, weight, Value(), 1, taps / 2) * 0.05;
}

TEST(Concatenations, OfConvolutionsCopyNothing) {
  const auto two = [](Value x) {
    const Value a = relu(convolved(x, 8, 12, 1));
    const Value b = F::silu(convolved(x, 8, 20, 3));
    return convolved(cat({a, b}, 1), 32, 8, 1);
  };
  EXPECT_EQ(copies_of(two, {image()}), 0);
  EXPECT_EQ(copies_of(two, {image(1)}), 0);
}

// Each concatenation begins as the next one does.
TEST(Concatenations, OfDenseBlocksCopyNothing) {
  const auto block = [](Value x) {
    std::vector<Value> all{convolved(x, 8, 8, 1)};
    for (int64_t i = 1; i < 5; ++i) {
      const Value before = i == 1 ? all[0] : cat(all, 1);
      all.push_back(convolved(relu(before * 0.5 + 0.1), 8 * i, 8, 3));
    }
    return convolved(cat(all, 1), 40, 8, 1);
  };
  EXPECT_EQ(copies_of(block, {image()}), 0);
}

TEST(Concatenations, AreReadByWhoeverElseReadsAnOperand) {
  const auto ghost = [](Value x) {
    const Value a = relu(convolved(x, 8, 16, 1));
    const Value weight = random_tensor({16, 1, 3, 3}, DType::f32, 7);
    const Value b = F::conv2d(a, weight, Value(), 1, 1, 1, 16);
    const Value part = narrow(a, 1, 3, 9);
    return convolved(cat({a, b}, 1), 32, 8, 1) + sum(part * 2, {1}, true);
  };
  EXPECT_EQ(copies_of(ghost, {image()}), 0);
}

// An input has its place, a value that is a result as well has memory of its
// own, and one place holds one of two equal operands.
TEST(Concatenations, CopyWhatLiesElsewhere) {
  const auto kept = [](Value x) {
    const Value a = exp(x), b = tanh(x);
    return std::vector<Value>{a, cat({b, a, x, b}, 1)};
  };
  EXPECT_EQ(copies_of([&](Value x) { return Value(kept(x)); }, {image()}), 3);
}

TEST(Concatenations, ConvertOperandsOfOtherTypes) {
  const auto mixed = [](Value x) {
    const Value half = method(x * 2, "to", {DType::f16});
    return cat({half, x + 1}, 1) * 2;
  };
  EXPECT_EQ(copies_of(mixed, {image()}), 1);
}

// Results that are written while the arena is in use elsewhere.
TEST(Concatenations, AlongEveryDim) {
  for (const int64_t dim : {0, 1, 2, 3, -1}) {
    SCOPED_TRACE(dim);
    const auto along = [dim](Value x) {
      const Value a = softmax(x, -1), b = convolved(x, 8, 8, 1);
      return cat({a * 2, b, sin(x)}, dim) + 1;
    };
    EXPECT_LE(copies_of(along, {image()}), 1);
  }
}

// A value waits for its concatenation beside work whose working memory is the
// graph's peak, or is not: the whole is held from the start where there is
// room.
TEST(Concatenations, DoNotRaiseThePeak) {
  const auto waiting = [](int64_t width) {
    return [width](Value x) {
      const Value early = tanh(x);
      const Value wide = convolved(early, 8, width, 3);
      const Value late = convolved(flip(wide, {2}) + wide, width, 8, 1);
      return cat({early, exp(late)}, 1) * 2;
    };
  };
  EXPECT_EQ(copies_of(waiting(4), {image()}), 0);
  EXPECT_EQ(copies_of(waiting(64), {image()}), 1);
}

}  // namespace TEST_FILE
}  // namespace fxjit
