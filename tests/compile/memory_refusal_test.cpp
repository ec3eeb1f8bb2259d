// Inputs that need no memory themselves, broadcast views, and results that no
// machine has memory for: compiled modules refuse at once, as the interpreter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using testing::random_tensor;

// As many rows as one likes of one row's memory.
Tensor broadcast_rows(DType dtype = DType::f32) {
  return random_tensor({64}, dtype)
      .as_strided({int64_t{1} << 45, 64}, {0, 1}, 0);
}

std::string refusal(fx::GraphModule& gm, const ValueList& inputs) {
  try {
    gm.forward(inputs);
  } catch (const RuntimeError& error) {
    return error.what();
  }
  return "";
}

template <typename Fn>
void expect_refused(Fn f, const Tensor& input) {
  const auto gm = fx::symbolic_trace(f, {"x"}, "f");
  compile(*gm, testing::quick());
  const ValueList inputs{input};
  EXPECT_FALSE(prepare(*gm, inputs));
  EXPECT_THAT(report(*gm), HasSubstr("no memory for"));
  EXPECT_THAT(refusal(*gm, inputs), HasSubstr("no memory for"));
}

Value mlp(Value x) {
  const Tensor up = random_tensor({256, 64}, DType::f32, 1);
  const Tensor down = random_tensor({64, 256}, DType::f32, 2);
  return F::linear(F::gelu(F::linear(x, up)), down);
}

TEST(MemoryRefusal, OfCallsOnBroadcastViews) {
  const Tensor x = broadcast_rows();
  expect_refused(mlp, x);
  expect_refused([](Value x) { return relu(x); }, x);
  expect_refused([](Value x) { return softmax(x, -1); }, x);
  expect_refused([](Value x) { return sum(x, -1); }, x);
  expect_refused([](Value x) { return sum(x * 2.0); }, x);
  expect_refused([](Value x) { return cumsum(x, 0); }, x);
  expect_refused([](Value x) { return cat({x, x}, 0); }, x);
  expect_refused([](Value x) { return method(x, "clone"); }, x);
  expect_refused([](Value x) { return method(x, "double"); }, x);
  expect_refused([](Value x) { return flip(x, {1}); }, x);
  expect_refused([](Value x) { return F::layer_norm(x, {64}); }, x);
  expect_refused([](Value x) { return function("torch.argsort", {x, -1}); }, x);
  expect_refused([](Value x) { return transpose(x, 0, 1) + 1.0; }, x);
  expect_refused(
      [](Value x) {
        return F::conv1d(unsqueeze(x, 1), Tensor::zeros({2, 1, 3}));
      },
      x);
  expect_refused(
      [](Value x) { return F::embedding(x, Tensor::zeros({16, 4})); },
      broadcast_rows(DType::i64));
}

TEST(MemoryRefusal, BehindCalls) {
  CompileOptions options = testing::quick();
  options.new_shape = CompileOptions::NewShape::behind;
  const auto gm = fx::symbolic_trace(mlp, {"x"}, "f");
  compile(*gm, options);
  const ValueList inputs{broadcast_rows()};
  EXPECT_THAT(refusal(*gm, inputs), HasSubstr("no memory for"));
  EXPECT_FALSE(prepare(*gm, inputs));
  EXPECT_THAT(refusal(*gm, inputs), HasSubstr("no memory for"));
}

TEST(MemoryRefusal, NotOfViewsOfBroadcastMemory) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        return narrow(expand(unsqueeze(x, 0), {3, -1, 64}), 1, 5, 2) * 2.0;
      },
      {"x"}, "f");
  compile(*gm, testing::quick());
  const ValueList inputs{broadcast_rows()};
  EXPECT_TRUE(prepare(*gm, inputs)) << report(*gm);
  testing::expect_right(*gm, inputs);
}

}  // namespace TEST_FILE
}  // namespace fxjit
