// Programs are data: two plans of one model are equal, and what is written out
// and read back is equal to what was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "src/compile/compiled_module.h"
#include "src/program/planning/planner.h"
#include "src/program/text/text.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/models.h"

namespace fxjit {
namespace {

namespace F = nn::functional;
using program::Program;

struct Traced {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
};

Traced traced(const nn::ModuleRef& model, ValueList inputs) {
  model->eval();
  return {fx::symbolic_trace(model), std::move(inputs)};
}

Traced mlp() {
  return traced(
      nn::Sequential::create(nn::Linear::create(300, 600), nn::GELU::create(),
                             nn::Linear::create(600, 10)),
      {testing::random_tensor({3, 300})});
}

Traced transformer() {
  nn::TransformerOptions options;
  options.dim_feedforward = 64;
  options.dropout = 0;
  options.batch_first = true;
  return traced(nn::Sequential::create(
                    nn::TransformerEncoderLayer::create(32, 4, options)),
                {testing::random_tensor({2, 9, 32})});
}

// An image convolution, a depthwise one, one of 3 x 3, pooling; some of the
// work behind them is generated.
Traced convolutions() {
  return traced(
      nn::Sequential::create(
          nn::Conv2d::create(3, 16, 3), nn::ReLU::create(),
          nn::Conv2d::create(16, 16, 3,
                             nn::ConvOptions{.padding = 1, .groups = 16}),
          nn::GELU::create(), nn::Conv2d::create(16, 32, 3), nn::ReLU::create(),
          nn::MaxPool2d::create(2), nn::Conv2d::create(32, 8, 5)),
      {testing::random_tensor({2, 3, 24, 24})});
}

Traced recurrent() {
  nn::RecurrentOptions options;
  options.bidirectional = true;
  return traced(nn::Sequential::create(nn::LSTM::create(12, 20, options)),
                {testing::random_tensor({5, 2, 12})});
}

// A loop around a product, and a branch.
Traced control_flow() {
  const auto linear = nn::Linear::create(64, 64);
  const auto model =
      nn::lambda("Model", {"n", "x"},
                 [linear](Value n, Value x) {
                   const Value looped = while_loop(
                       [n](Value i, Value) { return i < n; },
                       [linear](Value i, Value x) {
                         const Value next = i + 1;
                         return Value::tuple({next, relu(linear(x))});
                       },
                       {Tensor::full({}, 0, DType::i64), x});
                   return cond(
                       n > 2, [](Value x) { return x * 2; },
                       [](Value x) { return tanh(x); }, {looped.at(1)});
                 },
                 {{"linear", linear}});
  return traced(model,
                {Tensor::full({}, 3, DType::i64), Tensor::full({2, 64}, 0.5)});
}

// Writes to an input, in place and whole, a copy of short runs, running sums.
Traced writes() {
  return {fx::symbolic_trace(
              [](Value cache, Value other, Value x) {
                method(cache, "index_copy_",
                       {0, Tensor::from(std::vector<int64_t>{1}, {1}), x});
                method(other, "mul_", {2});
                return cumsum(permute(x, {0, 2, 1}) + 1, 1);
              },
              {"cache", "other", "x"}),
          {testing::random_tensor({4, 6, 5}), testing::random_tensor({7}),
           testing::random_tensor({1, 6, 5})}};
}

Traced windows() {
  return traced(testing::make_windows(), {testing::random_tensor({1, 64, 8})});
}

// A depthwise convolution and pooling of an image as it is given.
Traced planes() {
  return traced(nn::Sequential::create(
                    nn::Conv2d::create(
                        6, 12, 3, nn::ConvOptions{.padding = 1, .groups = 6}),
                    nn::SiLU::create(), nn::MaxPool2d::create(2)),
                {testing::random_tensor({2, 6, 24, 24})});
}

// Images of few pixels and many channels, for the transforms.
Traced transformed() {
  return traced(
      nn::Sequential::create(
          nn::Conv2d::create(32, 64, 3, nn::ConvOptions{.padding = 1}),
          nn::ReLU::create()),
      {testing::random_tensor({1, 32, 28, 28})});
}

// Queries that see some of the keys.
Traced masked() {
  return {fx::symbolic_trace(
              [](Value x, Value mask) {
                return F::scaled_dot_product_attention(x, x, x, mask);
              },
              {"x", "mask"}),
          {testing::random_tensor({2, 4, 9, 16}),
           testing::random_tensor({9, 9}, DType::boolean)}};
}

// Matrices packed while the program runs.
Traced activations() {
  return {fx::symbolic_trace([](Value x, Value y) { return matmul(x, y); },
                             {"x", "y"}),
          {testing::random_tensor({2, 9, 20}),
           testing::random_tensor({2, 20, 12})}};
}

// A weight that may be kept in fewer bits, as one row uses it.
Traced one_row() {
  return {
      fx::symbolic_trace([weight = Value(testing::random_tensor({768, 768}))](
                             Value x) { return F::gelu(F::linear(x, weight)); },
                         {"x"}),
      {testing::random_tensor({1, 768})}};
}

// Products, sums and elementwise work in both half types.
Traced halves() {
  const Value b = testing::random_tensor({32, 40}, DType::bf16);
  const Value f = testing::random_tensor({32, 40}, DType::f16);
  return {fx::symbolic_trace(
              [=](Value x, Value y) {
                return Value::tuple({F::linear(x, b), F::linear(y, f),
                                     softmax(x, -1), sum(y, 0), x + 1});
              },
              {"x", "y"}),
          {testing::random_tensor({70, 40}, DType::bf16),
           testing::random_tensor({70, 40}, DType::f16)}};
}

// Sums over an outer dim, to which infinity is added.
Traced columns() {
  return {fx::symbolic_trace(
              [](Value x) {
                return sum(x, 1) + std::numeric_limits<double>::infinity();
              },
              {"x"}),
          {testing::random_tensor({3, 50, 70})}};
}

// Elements and rows picked by an index.
Traced gathers() {
  const Value table = testing::random_tensor({11, 24});
  const Tensor index = Tensor::from(std::vector<int64_t>{3, 0, 2, 1}, {2, 2});
  return {fx::symbolic_trace(
              [=](Value x, Value i) {
                return Value::tuple(
                    {gather(x, 1, i) * 2, F::embedding(i, table) + 1});
              },
              {"x", "i"}),
          {testing::random_tensor({4, 6}), index}};
}

struct Case {
  const char* name;
  Traced (*make)();
  CompileOptions::Contraction contraction =
      CompileOptions::Contraction::automatic;
  bool strict_sums = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr Case kCases[] = {
    {"mlp", mlp},
    {"mlp_by_library", mlp, CompileOptions::Contraction::onednn},
    {"strict_mlp", mlp, CompileOptions::Contraction::automatic, true},
    {"transformer", transformer},
    {"convolutions", convolutions},
    {"transformed", transformed},
    {"recurrent", recurrent},
    {"control_flow", control_flow},
    {"writes", writes},
    {"windows", windows},
    {"planes", planes},
    {"masked", masked},
    {"activations", activations},
    {"one_row", one_row},
    {"halves", halves},
    {"columns", columns},
    {"gathers", gathers},
};

// What plan() gives for a machine of this level, which need not be this one.
Program planned(const Case& c, const Traced& model, CpuLevel level) {
  program::PlanOptions options;
  options.machine.level = level;
  options.machine.halves = {.f16 = true, .bf16 = true};
  options.strict_sums = c.strict_sums;
  options.library_products =
      c.contraction == CompileOptions::Contraction::onednn;
  options.narrow = program::PlanOptions::Narrow::rounded;
  options.pipeline.halves = options.machine.halves;
  options.pipeline.strict_sums = c.strict_sums;
  return program::plan(passes::run_pipeline(*model.module, model.inputs,
                                            options.pipeline),
                       options)
      .program;
}

// What the bind stage made of the plan.
Program bound(const Case& c, const Traced& model, CpuLevel level) {
  CompileOptions options = testing::options_for(level);
  options.contraction = c.contraction;
  options.strict_sums = c.strict_sums;
  compile(*model.module, options);
  const auto shape = compiled_module(*model.module)->get(model.inputs);
  EXPECT_TRUE(shape->native()) << shape->why_not();
  return shape->executable().program();
}

void expect_read_back(const Program& program) {
  SCOPED_TRACE(cpu_level_name(program.machine.level));
  const std::string text = program::write_text(program);
  const Program again = program::read_text(text);
  EXPECT_TRUE(program == again);
  EXPECT_EQ(program::write_text(again), text);
}

class ProgramData : public ::testing::TestWithParam<Case> {};

TEST_P(ProgramData, TwoPlansOfOneModelAreEqual) {
  const Traced model = GetParam().make();
  for (CpuLevel level : support::kCpuLevels) {
    const Program first = planned(GetParam(), model, level);
    EXPECT_TRUE(first == planned(GetParam(), model, level));
    EXPECT_EQ(first.machine.level, level);
    EXPECT_GT(first.steps.size(), 0u);
  }
}

TEST_P(ProgramData, TwoBoundProgramsOfOneModelAreEqual) {
  const Traced model = GetParam().make();
  for (CpuLevel level : testing::host_levels())
    EXPECT_TRUE(bound(GetParam(), model, level) ==
                bound(GetParam(), model, level));
}

TEST_P(ProgramData, PlansAreReadAsTheyWereWritten) {
  const Traced model = GetParam().make();
  for (CpuLevel level : support::kCpuLevels)
    expect_read_back(planned(GetParam(), model, level));
}

TEST_P(ProgramData, BoundProgramsAreReadAsTheyWereWritten) {
  const Traced model = GetParam().make();
  for (CpuLevel level : testing::host_levels())
    expect_read_back(bound(GetParam(), model, level));
}

INSTANTIATE_TEST_SUITE_P(Models, ProgramData, ::testing::ValuesIn(kCases),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

// The names of the types that a step may hold.
using Kinds = std::set<std::string>;

template <typename... T>
Kinds all_kinds(const std::variant<T...>*) {
  return {typeid(T).name()...};
}

Kinds every_kind() {
  Kinds kinds = all_kinds(static_cast<const program::StepBody*>(nullptr));
  kinds.merge(
      all_kinds(static_cast<const program::ExternStep::What*>(nullptr)));
  return kinds;
}

template <typename Variant>
void add_kind(const Variant& held, Kinds& kinds) {
  std::visit([&](const auto& part) { kinds.insert(typeid(part).name()); },
             held);
}

// What the programs of the cases hold.
struct Found {
  Kinds kinds;
  int gathers = 0;
  int half_products = 0;
  int conv_tails = 0;
  int narrow_weights = 0;

  void add(const program::RowStep& step) {
    for (const program::Access& access : step.inputs)
      gathers += access.gather_slot >= 0;
  }
  void add(const program::ExternStep& step) {
    add_kind(step.what, kinds);
    const auto* const call = std::get_if<program::CallSpec>(&step.what);
    half_products += call && call->code == program::CallCode::half_product;
    conv_tails += call && !call->tail.empty();
  }
  void add(const auto&) {}

  void add(const Program& program) {
    for (const program::Step& step : program.steps) {
      add_kind(step.body, kinds);
      std::visit([&](const auto& body) { add(body); }, step.body);
    }
    for (const weights::PackSpec& spec : program.packed)
      narrow_weights += !spec.formats.empty();
    for (const Program& body : program.bodies) add(body);
  }
};

TEST(ProgramDataParts, CasesHoldEveryKindOfStep) {
  Found found;
  for (const Case& c : kCases)
    found.add(planned(c, c.make(), CpuLevel::avx512));
  EXPECT_EQ(found.kinds, every_kind());
  EXPECT_GT(found.gathers, 0);
  EXPECT_GT(found.half_products, 0);
  EXPECT_GT(found.conv_tails, 0);
  EXPECT_GT(found.narrow_weights, 0);
}

Program bound(Traced (*make)()) {
  return bound({"", make}, make(), host_cpu_level());
}

TEST(ProgramDataParts, ConstantsSayWhereTheyComeFrom) {
  const Program program = bound(mlp);
  std::vector<std::string> sources;
  for (const program::Constant& constant : program.constants)
    sources.push_back(constant.source);
  for (const char* name : {"0.weight", "0.bias", "2.weight", "2.bias"})
    EXPECT_EQ(std::ranges::count(sources, name), 1) << name;
}

TEST(ProgramDataParts, OtherProgramsDiffer) {
  const Program program = bound(convolutions);
  int calls = 0;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    Program other = program;
    auto* const step = std::get_if<program::ExternStep>(&other.steps[i].body);
    auto* const call =
        step ? std::get_if<program::CallSpec>(&step->what) : nullptr;
    if (!call) continue;
    ++calls;
    call->args.back() = Value("another");
    EXPECT_FALSE(other == program);
  }
  EXPECT_GT(calls, 2);
  Program other = program;
  other.constants.back().source = "elsewhere";
  EXPECT_FALSE(other == program);
}

}  // namespace
}  // namespace fxjit
