// inspect(): the work of every kind of step, why steps are apart, buffers,
// code.
#include "fxjit/inspection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using testing::quick;
using testing::random_tensor;

Inspection inspected(const std::function<Value(Value)>& forward,
                     const Tensor& input) {
  const auto gm = fx::symbolic_trace(forward, {"x"});
  compile(*gm, quick());
  const ValueList inputs{input};
  gm->forward(inputs);
  return inspect(*gm, inputs, {.calls = 2, .code = true});
}

const StepInspection& step_of(const Inspection& seen, std::string_view node) {
  for (const ProgramInspection& program : seen.programs)
    for (const StepInspection& step : program.steps)
      for (const NodeReport& named : step.report.nodes)
        if (named.name == node) return step;
  std::string text;
  for (const ProgramInspection& program : seen.programs)
    for (const StepInspection& step : program.steps)
      for (const NodeReport& named : step.report.nodes)
        text += " " + named.name;
  throw UserError("no step computes " + std::string(node) + ", but" + text);
}

// A result of a convolution is a sum over its group's channels and its window,
// then one operation of the epilogue.
TEST(Inspections, ConvolutionsCountMultiplyAdds) {
  struct Case {
    int64_t features, channels, groups, window, stride;
    double results;  // At padding 1.
  };
  constexpr int64_t kSize = 20;
  for (const Case& one : {Case{24, 8, 1, 5, 1, 24 * 18 * 18},
                          Case{24, 8, 1, 3, 2, 24 * 10 * 10},
                          Case{8, 8, 8, 3, 1, 8 * 20 * 20},
                          Case{8, 8, 8, 3, 2, 8 * 10 * 10},
                          Case{16, 8, 2, 3, 1, 16 * 20 * 20}}) {
    const int64_t each = one.channels / one.groups;
    const Tensor weight =
        random_tensor({one.features, each, one.window, one.window});
    const Inspection seen = inspected(
        [&](Value x) {
          return relu(F::conv2d(x, weight, None, one.stride, 1, 1, one.groups));
        },
        random_tensor({1, one.channels, kSize, kSize}));
    // Laying out the image for one filter for each channel is a step of its
    // own.
    const StepProfile& work = step_of(seen, "relu").profile;
    EXPECT_EQ(work.flops,
              one.results *
                  static_cast<double>(2 * each * one.window * one.window + 1));
    const double moved = one.results + static_cast<double>(
                                           one.channels * kSize * kSize +
                                           weight.numel());
    EXPECT_EQ(work.bytes, 4 * moved);
    EXPECT_GT(work.of_limit, 0);
  }
}

TEST(Inspections, TransposedConvolutionsCountInputs) {
  const Tensor weight = random_tensor({6, 4, 3, 3});
  const Inspection seen = inspected(
      [&](Value x) {
        return F::conv_transpose2d(x, weight, None, 2, 0, 0, 1, 2);
      },
      random_tensor({2, 6, 9, 9}));
  EXPECT_EQ(step_of(seen, "conv_transpose2d").profile.flops,
            2.0 * 2 * 6 * 9 * 9 * 4 * 9);
}

TEST(Inspections, OtherRoutinesCountTheirWork) {
  const Tensor rows = random_tensor({32, 8});
  const Inspection seen = inspected(
      [&](Value x) {
        const Value pooled = F::max_pool2d(x, 2);
        const Value summed = cumsum(x, -1);
        const Value whole = method(method(x, "to", {DType::f64}), "flatten",
                                   {0, 2});
        return Value::tuple(
            {pooled, summed, matmul(whole, method(rows, "to", {DType::f64}).as_tensor())});
      },
      random_tensor({1, 4, 16, 32}));
  const StepProfile& pool = step_of(seen, "max_pool2d").profile;
  EXPECT_EQ(pool.flops, 4.0 * 8 * 16 * 4);
  EXPECT_EQ(pool.bytes, 4.0 * (4 * 16 * 32 + 4 * 8 * 16));
  EXPECT_EQ(step_of(seen, "cumsum").profile.bytes, 2 * 4.0 * 4 * 16 * 32);
  const StepProfile& product = step_of(seen, "matmul").profile;
  EXPECT_EQ(product.flops, 2.0 * 64 * 32 * 8);
  EXPECT_EQ(product.bytes, 8.0 * (64 * 32 + 32 * 8 + 64 * 8));
}

// Each time multiplies the state of every sequence by the weights of the gates.
TEST(Inspections, RecurrentLayersCountTheirProducts) {
  const auto gm =
      fx::symbolic_trace(nn::Sequential::create(nn::LSTM::create(12, 20)));
  compile(*gm, quick());
  const ValueList inputs{random_tensor({7, 3, 12})};
  gm->forward(inputs);
  const Inspection seen = inspect(*gm, inputs, {.calls = 2, .code = false});
  double most = 0;
  for (const StepInspection& step : seen.programs.at(0).steps)
    if (step.skeleton == "routine") most = std::max(most, step.profile.flops);
  EXPECT_EQ(most, 2.0 * 7 * 3 * (4 * 20) * 20);
}

// Every operand that another step gives says why the two are apart.
std::string why(const Inspection& seen, std::string_view node) {
  std::string text;
  for (const OperandInspection& operand : step_of(seen, node).operands)
    if (!operand.apart.empty()) text += operand.apart + "; ";
  return text;
}

TEST(Inspections, SayWhyStepsAreApart) {
  const Tensor weight = random_tensor({32, 32});
  const auto forward = [&](Value x) {
    const Value product = matmul(x, weight);
    const Value normal = softmax(tanh(product), -1);
    const Value again = matmul(normal, weight);
    return sum(again, 0) + mean(again, 1);
  };
  const Inspection seen = inspected(forward, random_tensor({32, 32}));
  EXPECT_THAT(why(seen, "softmax"), HasSubstr("ends another product"));
  EXPECT_THAT(why(seen, "matmul_1"), HasSubstr("reads each element many times"));
  EXPECT_THAT(why(seen, "sum_1"), HasSubstr("ends another product"));
  EXPECT_EQ(why(seen, "matmul"), "");
}

std::vector<std::string> names_with(const Inspection& seen,
                                    std::string_view node) {
  std::vector<std::string> names;
  for (const NodeReport& named : step_of(seen, node).report.nodes)
    names.push_back(named.name);
  return names;
}

// Calls that patterns replace are named by the step that does their work.
TEST(Inspections, StepsNameAllThatTheyReplace) {
  const Tensor window = random_tensor({8, 4, 5, 5});
  const Tensor bias = random_tensor({8});
  const Inspection images = inspected(
      [&](Value x) { return relu(F::conv2d(x, window, bias)) * 2; },
      random_tensor({1, 4, 12, 12}));
  EXPECT_THAT(names_with(images, "conv2d"),
              ::testing::ElementsAre("conv2d", "relu", "mul"));
  const Tensor a = random_tensor({16, 16}), b = random_tensor({16, 16});
  const Inspection linears = inspected(
      [&](Value x) {
        return Value::tuple({method(F::linear(x, a), "view", {6, 4, 4}),
                             method(F::linear(x, b), "view", {6, 4, 4})});
      },
      random_tensor({6, 16}));
  EXPECT_THAT(names_with(linears, "linear"),
              ::testing::IsSupersetOf({"linear", "linear_1"}));
  const Inspection attention = inspected(
      [](Value x) {
        const Value scores = matmul(x, method(x, "transpose", {-2, -1})) / 2.0;
        return matmul(softmax(scores, -1), x);
      },
      random_tensor({2, 5, 8}));
  EXPECT_THAT(names_with(attention, "softmax"),
              ::testing::IsSupersetOf({"matmul", "softmax", "matmul_1"}));
}

TEST(Inspections, BuffersAndCodeBelongToSteps) {
  const Tensor weight = random_tensor({16, 16});
  const Inspection seen = inspected(
      [&](Value x) {
        for (int i = 0; i < 3; ++i) x = F::gelu(matmul(x, weight)) * 2;
        return softmax(x, -1);
      },
      random_tensor({8, 16}));
  ASSERT_EQ(seen.programs.size(), 1u);
  const ProgramInspection& program = seen.programs[0];
  using Home = BufferInspection::Home;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const StepInspection& step = program.steps[s];
    EXPECT_TRUE(std::any_of(
        step.operands.begin(), step.operands.end(),
        [](const OperandInspection& operand) { return operand.written; }));
    for (const OperandInspection& operand : step.operands) {
      const BufferInspection& buffer =
          program.buffers[static_cast<size_t>(operand.buffer)];
      EXPECT_LE(buffer.first, static_cast<int32_t>(s));
      EXPECT_GE(buffer.last, static_cast<int32_t>(s));
      EXPECT_FALSE(operand.written && (buffer.home == Home::input ||
                                       buffer.home == Home::constant ||
                                       buffer.home == Home::packed));
      if (buffer.home == Home::arena) {
        EXPECT_LE(buffer.offset + buffer.bytes, program.arena_bytes);
      }
    }
    ASSERT_FALSE(step.kernels.empty());
  }
  // Three equal layers have one kernel.
  EXPECT_EQ(program.steps[0].kernels, program.steps[1].kernels);
  EXPECT_LT(seen.kernels.size(), program.steps.size());
  for (const KernelInspection& kernel : seen.kernels) {
    EXPECT_THAT(kernel.ir, HasSubstr("define"));
    EXPECT_THAT(kernel.ir, HasSubstr(kernel.symbol));
    EXPECT_THAT(kernel.assembly, HasSubstr(kernel.symbol + ":"));
  }
  EXPECT_EQ(program.buffers[0].name, "x");
  EXPECT_EQ(program.outputs.at(0).val.describe(), "float32[8, 16]");
  EXPECT_EQ(seen.profile.steps.size(), program.steps.size());
}

TEST(Inspections, NeedACompiledModule) {
  const auto gm = fx::symbolic_trace([](Value x) { return exp(x); }, {"x"});
  EXPECT_THROW(inspect(*gm, ValueList{random_tensor({2})}), UserError);
}

}  // namespace TEST_FILE
}  // namespace fxjit
