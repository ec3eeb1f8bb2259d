// Programs are data: two plans of one model are equal, and what is written out
// and read back is equal to what was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
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
#include "tests/compile/program_models.h"

namespace fxjit {
namespace TEST_FILE {

using program::Program;
using testing::Traced;

struct Case {
  const char* name;
  Traced (*make)();
  CompileOptions::Contraction contraction =
      CompileOptions::Contraction::automatic;
  bool strict_sums = false;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr Case kCases[] = {
    {"mlp", testing::mlp},
    {"mlp_by_library", testing::mlp, CompileOptions::Contraction::onednn},
    {"strict_mlp", testing::mlp, CompileOptions::Contraction::automatic, true},
    {"transformer", testing::transformer},
    {"layers", testing::layers},
    {"convolutions", testing::convolutions},
    {"transformed", testing::transformed},
    {"recurrent", testing::recurrent},
    {"control_flow", testing::control_flow},
    {"writes", testing::writes},
    {"windows", testing::windows},
    {"planes", testing::planes},
    {"resized", testing::resized},
    {"masked", testing::masked},
    {"activations", testing::activations},
    {"one_row", testing::one_row},
    {"halves", testing::halves},
    {"columns", testing::columns},
    {"gathers", testing::gathers},
    {"integers", testing::integers},
};

using Alter = std::function<void(passes::ModelGraph&)>;

// What plan() gives for a machine of this level, which need not be this one.
// `alter` may change the graph before.
Program planned(const Case& c, const Traced& model, CpuLevel level,
                const Alter& alter = {}) {
  program::PlanOptions options;
  options.machine.level = level;
  options.machine.halves = {.f16 = true, .bf16 = true};
  options.strict_sums = c.strict_sums;
  options.library_products =
      c.contraction == CompileOptions::Contraction::onednn;
  options.narrow = program::PlanOptions::Narrow::rounded;
  options.pipeline.halves = options.machine.halves;
  options.pipeline.strict_sums = c.strict_sums;
  options.pipeline.plane_windows = level == CpuLevel::avx2;
  passes::ModelGraph graph =
      passes::run_pipeline(*model.module, model.inputs, options.pipeline);
  if (alter) alter(graph);
  return program::plan(graph, options).program;
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

TEST_P(ProgramData, TwinsGetTheStepsThatPlanningThemGives) {
  const Traced model = GetParam().make();
  for (CpuLevel level : support::kCpuLevels)
    EXPECT_TRUE(
        planned(GetParam(), model, level) ==
        planned(GetParam(), model, level, [](passes::ModelGraph& graph) {
          for (auto& [name, region] : graph.regions) region.twin = -1;
        }));
}

TEST(ProgramOfLayers, HasTwins) {
  const Case layers{"layers", testing::layers};
  planned(layers, layers.make(), CpuLevel::avx2,
          [](const passes::ModelGraph& graph) {
            std::map<int32_t, int> count;
            for (const auto& [name, region] : graph.regions)
              ++count[region.twin];
            EXPECT_FALSE(count.contains(-1));
            int most = 0;
            for (const auto& [twin, regions] : count)
              most = std::max(most, regions);
            EXPECT_GE(most, 3);
          });
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
      add_kind(*step.body, kinds);
      std::visit([&](const auto& body) { add(body); }, *step.body);
    }
    for (const weights::PackSpec& spec : program.packed)
      narrow_weights += !spec.formats.empty();
    for (const Program& body : program.bodies) add(body);
  }
};

TEST(ProgramDataParts, CasesHoldEveryKindOfStep) {
  Found found;
  for (const Case& c : kCases)
    for (CpuLevel level : {CpuLevel::avx2, CpuLevel::avx512})
      found.add(planned(c, c.make(), level));
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
  const Program program = bound(testing::mlp);
  std::vector<std::string> sources;
  for (const program::Constant& constant : program.constants)
    sources.push_back(constant.source);
  for (const char* name : {"0.weight", "0.bias", "2.weight", "2.bias"})
    EXPECT_EQ(std::ranges::count(sources, name), 1) << name;
}

TEST(ProgramDataParts, OtherProgramsDiffer) {
  // Other levels compute most convolutions by tiles.
  const Program program = bound({"", testing::convolutions},
                                testing::convolutions(), CpuLevel::sse41);
  int calls = 0;
  for (size_t i = 0; i < program.steps.size(); ++i) {
    Program other = program;
    auto* const step =
        std::get_if<program::ExternStep>(&other.steps[i].body.change());
    auto* const call =
        step ? std::get_if<program::CallSpec>(&step->what) : nullptr;
    if (!call) continue;
    ++calls;
    call->args.back() = Value("another");
    EXPECT_FALSE(other == program);
  }
  EXPECT_GT(calls, 1);
  Program other = program;
  other.constants.back().source = "elsewhere";
  EXPECT_FALSE(other == program);
}

}  // namespace TEST_FILE
}  // namespace fxjit
