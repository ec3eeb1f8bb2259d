// Which elementwise work goes into the convolution before it, and that results
// stay the captured graph's.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

// Groups of more channels than windows sum: such convolutions stay oneDNN's.
constexpr int64_t kChannels = 40;
const Tensor kWindow = random_tensor({kChannels, kChannels / 2, 3, 3}, 3);
const Tensor kBias = random_tensor({kChannels}, 4);
const Tensor kInput = random_tensor({2, kChannels, 5, 4});

Value grouped(const Value& x) {
  return F::conv2d(x, kWindow, kBias, Value(1), Value(1), Value(1), Value(2));
}

template <typename Fn>
std::vector<std::string> fused(Fn f, ValueList inputs) {
  const Passed passed = run_passes(f, std::move(inputs));
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

// One step is the convolution, and one gives the captured order.
template <typename Fn>
void expect_absorbed(Fn f) {
  EXPECT_THAT(fused([&](Value x) { return f(grouped(x)); }, {kInput}),
              ElementsAre("call: conv_last_work", "rows: materialize"));
}

template <typename Fn>
void expect_apart(Fn f) {
  EXPECT_THAT(fused([&](Value x) { return f(grouped(x)); }, {kInput}),
              Contains("call: conv_last"));
}

TEST(ConvWork, Activations) {
  expect_absorbed([](Value y) { return F::relu(y); });
  expect_absorbed([](Value y) { return F::relu6(y); });
  expect_absorbed([](Value y) { return F::hardtanh(y, -0.25, 0.5); });
  expect_absorbed([](Value y) { return clamp(y, Value(-0.1)); });
  expect_absorbed([](Value y) { return clamp(y, None, Value(0.1)); });
  expect_absorbed([](Value y) { return F::hardsigmoid(y); });
  expect_absorbed([](Value y) { return F::hardswish(y); });
  expect_absorbed([](Value y) { return F::silu(y); });
  expect_absorbed([](Value y) { return sigmoid(y); });
  expect_absorbed([](Value y) { return F::leaky_relu(y, 0.2); });
}

TEST(ConvWork, ChainsOfNumbersAndTensors) {
  const Tensor scale = random_tensor({kChannels, 1, 1}, 5);
  expect_absorbed([](Value y) { return F::relu(y * 2.0 - 0.5) + 1.0; });
  expect_absorbed([&](Value y) { return F::silu(y * scale + scale); });
}

// Whatever op writes them: what counts is the body.
TEST(ConvWork, OtherOpsOfTheSameBodies) {
  const Tensor scale = random_tensor({kChannels, 1, 1}, 5);
  expect_absorbed([](Value y) { return method(y, "clamp_min", {0}); });
  expect_absorbed([](Value y) { return method(y, "clamp_max", {0.5}); });
  expect_absorbed([&](Value y) { return addcmul(scale, y, scale); });
}

TEST(ConvWork, ResidualOfTheSameOrder) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    const Value y = F::relu(grouped(x));
                    return F::relu(grouped(y) + y);
                  },
                  {kInput}),
              ElementsAre("call: conv_last_work", "call: conv_last_work",
                          "rows: materialize"));
}

TEST(ConvWork, ActivationsThatAreWrittenOut) {
  const Tensor slopes = random_tensor({kChannels, 1, 1}, 5);
  expect_absorbed([](Value y) { return y * sigmoid(y); });
  expect_absorbed([](Value y) {
    const Value z = y * 2.0 + 1.0;
    return z * clamp(z + 3.0, Value(0), Value(6)) / 6.0 + 0.5;
  });
  expect_absorbed([&](Value y) { return where(y < 0, slopes * y, y); });
  expect_absorbed([&](Value y) { return where(y > 0, y, y * slopes); });
}

// A number that is no part of the epilogue reads what is in the middle of it,
// or what the epilogue would have to read follows from the sums.
TEST(ConvWork, WhatIsReadElsewhereStays) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    const Value y = grouped(x);
                    const Value z = F::relu(y);
                    return z * sum(y, Value::list({2, 3}), true);
                  },
                  {kInput}),
              Contains("call: conv_last"));
}

TEST(ConvWork, AnyBody) {
  expect_absorbed([](Value y) { return y * tanh(y); });
  expect_absorbed([](Value y) { return F::gelu(y); });
  expect_absorbed([](Value y) { return tanh(y); });
  expect_absorbed([](Value y) { return 1.0 - y; });
  expect_absorbed([](Value y) { return add(y, y); });
  expect_absorbed([](Value y) { return clamp(y, Value(2.0), Value(1.0)); });
}

TEST(ConvWork, OtherTensorsStayApart) {
  // One number for each image.
  const Tensor each = random_tensor({2, 1, 1, 1}, 6);
  expect_apart([&](Value y) { return y * each; });
  // Grows by broadcasting.
  const Tensor more = random_tensor({3, 1, kChannels, 1, 1}, 6);
  expect_apart([&](Value y) { return y + more; });
}

TEST(ConvWork, BetweenConvolutions) {
  const Tensor each = random_tensor({2, 1, 1, 1}, 6);
  const auto steps = [](auto work) {
    return fused([&](Value x) { return grouped(work(grouped(x))); },
                 {kInput});
  };
  const auto absorbed = ElementsAre("call: conv_last_work", "call: conv_last",
                                    "rows: materialize");
  EXPECT_THAT(steps([](Value y) { return F::gelu(y); }), absorbed);
  EXPECT_THAT(steps([](Value y) { return tanh(1.0 - y) * 2.0; }), absorbed);
  // What one number for each image is multiplied with is read by loops.
  EXPECT_THAT(steps([&](Value y) { return tanh(y) * each; }),
              Contains("call: conv_last_work"));
}

TEST(ConvWork, CanBeDisabled) {
  const Passed passed =
      run_passes([](Value x) { return F::relu(grouped(x)); }, {kInput},
                 {"fuse_conv_work"});
  EXPECT_EQ(wrong_result(passed), "");
  EXPECT_THAT(regions(passed.model), Contains("call: conv_last"));
}

}  // namespace TEST_FILE
}  // namespace fxjit
