// Reports as data: what computes each node, from which line, why not native.
#include "fxjit/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::quick;
using testing::random_tensor;
using testing::WarningLog;

// Generated code, a primitive or loop of the library, an eager function, and a
// node of the interpreter's between two parts.
nn::Ref<fx::GraphModule> mixed() {
  const auto opaque = fx::wrap("report_test.opaque", [](Value x) { return x; });
  const Tensor weight = random_tensor({16, 3, 5, 5});
  return fx::symbolic_trace(
      [=](Value x) {
        const Value images = nn::functional::conv2d(x, weight, None, 2);
        const Value whole = method(images, "to", {DType::i64});
        return exp(opaque(matmul(whole, whole))) + 1;
      },
      {"x"});
}

ValueList images() { return {random_tensor({1, 3, 19, 19})}; }

const StepReport* step_of(const Report& report, std::string_view node) {
  for (const ProgramReport& program : report.programs)
    for (const StepReport& step : program.steps)
      for (const NodeReport& named : step.nodes)
        if (named.name == node) return &step;
  return nullptr;
}

void expect_step(const Report& report, const char* node, ComputedBy by,
                 const char* target) {
  const StepReport* const step = step_of(report, node);
  ASSERT_NE(step, nullptr) << node << "\n" << report.text();
  EXPECT_EQ(step->by, by) << node << ": " << step->kernel;
  EXPECT_EQ(step->reason.empty(), is_native(by)) << node << step->reason;
  for (const NodeReport& named : step->nodes) {
    if (named.name != node) continue;
    EXPECT_EQ(named.target, target);
    EXPECT_THAT(named.file, EndsWith("report_test.cpp"));
    EXPECT_GT(named.line, 20);
  }
}

TEST(Reports, SayWhatComputesEachNode) {
  const WarningLog log;
  const auto gm = mixed();
  EXPECT_TRUE(make_report(*gm).programs.empty());
  compile(*gm, quick());
  EXPECT_TRUE(make_report(*gm).programs.empty());
  gm->forward(images());
  const Report report = make_report(*gm);
  ASSERT_EQ(report.programs.size(), 2u);
  EXPECT_EQ(report.programs[0].inputs, "float32[1, 3, 19, 19]");
  EXPECT_EQ(report.programs[1].begin, "exp");
  expect_step(report, "matmul", ComputedBy::eager, "torch.matmul");
  expect_step(report, "opaque", ComputedBy::interpreter, "report_test.opaque");
  expect_step(report, "exp", ComputedBy::generated, "torch.exp");
  EXPECT_TRUE(is_native(step_of(report, "conv2d")->by));
  EXPECT_FALSE(report.native());
  EXPECT_EQ(report.text(), fxjit::report(*gm)) << report.text();
}

// Convolutions of a net as people write it, by whichever way they are computed,
// pooling of both kinds, a product, and a copy to another layout.
TEST(Reports, NameStepsAsUsersDo) {
  const Tensor dense = random_tensor({16, 16, 3, 3});
  const Tensor large = random_tensor({8, 16, 5, 5});
  const Tensor depthwise = random_tensor({8, 1, 3, 3});
  const Tensor last = random_tensor({10, 8});
  const auto gm = fx::symbolic_trace(
      [=](Value x) {
        const Value wide = relu(nn::functional::conv2d(x, dense, None, 1, 1));
        const Value narrow = relu(nn::functional::conv2d(wide, large, None, 2));
        const Value windows =
            nn::functional::conv2d(narrow, depthwise, None, 1, 1, 1, 8);
        const Value pooled = nn::functional::avg_pool2d(
            nn::functional::max_pool2d(windows, 3, 2), 2);
        return nn::functional::linear(
            method(pooled, "mean", {Value::list({2, 3})}), last);
      },
      {"x"});
  compile(*gm, quick());
  gm->forward({random_tensor({1, 16, 32, 32})});
  std::string labels;
  const Report report = make_report(*gm);
  for (const StepReport& step : report.programs.at(0).steps)
    labels += step.label + "\n";
  for (const char* word : {"conv", "max_pool", "avg_pool", "matmul"})
    EXPECT_THAT(labels, HasSubstr(word));
  for (const char* word : {"contract", "conv_last", "materialize", "window"})
    EXPECT_THAT(labels, ::testing::Not(HasSubstr(word)));
}

TEST(Reports, MeasureShares) {
  const WarningLog log;
  const auto gm = mixed();
  compile(*gm, quick());
  const Report report = measure_report(*gm, images(), 3);
  double sum = 0;
  for (const ProgramReport& program : report.programs)
    for (const StepReport& step : program.steps) sum += step.share;
  EXPECT_NEAR(sum, 1, 1e-9);
  ASSERT_NE(step_of(report, "opaque"), nullptr);
  EXPECT_THAT(report.text(), HasSubstr("%\n"));
}

TEST(Reports, AreWrittenAsJson) {
  const WarningLog log;
  const auto gm = mixed();
  compile(*gm, quick());
  gm->forward(images());
  const Report report = make_report(*gm);
  const auto json = nlohmann::json::parse(report.json());
  const auto& programs = json.at("programs");
  ASSERT_EQ(programs.size(), report.programs.size());
  const auto& steps = programs[0].at("steps");
  ASSERT_EQ(steps.size(), report.programs[0].steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepReport& step = report.programs[0].steps[i];
    EXPECT_EQ(steps[i].at("by"), computed_by_name(step.by));
    EXPECT_EQ(steps[i].at("label"), step.label);
    EXPECT_EQ(steps[i].at("reason"), step.reason);
    EXPECT_EQ(steps[i].at("nodes").size(), step.nodes.size());
    for (size_t j = 0; j < step.nodes.size(); ++j)
      EXPECT_EQ(steps[i].at("nodes")[j].at("line"), step.nodes[j].line);
  }
}

TEST(Reports, OfModulesThatStayWithTheInterpreter) {
  const auto gm = mixed();
  EXPECT_THROW(measure_report(*gm, images()), UserError);
  EXPECT_EQ(nlohmann::json::parse(make_report(*gm).json()).at("programs"),
            nlohmann::json::array());
}

}  // namespace TEST_FILE
}  // namespace fxjit
