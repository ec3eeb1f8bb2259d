// What a trace with names asks: code that only looks at a graph, or that picks
// one of two sizes, makes no size a number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "src/compile/compiled_module.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/subprocess.h"

namespace fxjit {
namespace TEST_FILE {

namespace fs = std::filesystem;
namespace F = nn::functional;
using testing::quick;
using testing::random_tensor;

nn::Ref<fx::GraphModule> flattened() {
  return fx::symbolic_trace(
      [](Value x) {
        const Value length = method(x, "size", {1});
        return F::gelu(flatten(x, 0, 1)) + full({1, 8}, 0.5) * length;
      },
      {"x"}, "flattened");
}

CompileOptions with_names() {
  CompileOptions options = quick();
  options.sizes = {{NamedSize{"batch"}, NamedSize{"length"}}};
  return options;
}

// The texts of the guards after calls of several sizes.
std::vector<std::string> guards(const CompileOptions& options) {
  const auto gm = flattened();
  compile(*gm, options);
  for (int64_t n = 2; n < 6; ++n)
    gm->forward(ValueList{random_tensor({n, n + 7, 8})});
  std::vector<std::string> texts;
  for (const KindReport& kind : make_report(*gm).kinds) {
    texts.push_back(kind.inputs + kind.why_not);
    for (const GuardReport& guard : kind.guards) texts.push_back(guard.text);
  }
  return texts;
}

TEST(NamedTraces, AreDumpedWithTheirNames) {
  const testing::TemporaryFolder folder;
  CompileOptions dumped = with_names();
  dumped.dump_folder = folder.path();
  const auto expected = guards(with_names());
  EXPECT_EQ(guards(dumped), expected);
  EXPECT_EQ(expected.front(), "float32[batch, length, 8]");
  bool named = false;
  for (const auto& file : fs::directory_iterator(folder.path())) {
    std::ifstream in(file.path());
    const std::string text(std::istreambuf_iterator<char>(in), {});
    named |= text.find("batch*length") != std::string::npos;
  }
  EXPECT_TRUE(named);
}

// The greater of two sizes as a factor, the lesser one as a bound, and a sum.
nn::Ref<fx::GraphModule> compared() {
  auto graph = std::make_unique<fx::Graph>();
  const fx::NodePtr x = graph->placeholder("x"), y = graph->placeholder("y");
  const Value n = graph->call_method("size", {x, 0});
  const Value m = graph->call_method("size", {y, 0});
  const Value most = graph->call_function("torch.sym_max", {n, m});
  const Value least = graph->call_function("torch.sym_min", {n, m});
  const Value sum =
      graph->call_function("torch.sym_sum", {Value::list({n, most, 3})});
  const Value cut = graph->call_function("torch.narrow", {x, 0, 0, least});
  graph->output(Value::tuple(
      {graph->call_function("torch.mul", {cut, most}),
       graph->call_function("torch.mul", {y, sum}),
       graph->call_function("torch.ones", {Value::list({most, 2})})}));
  return fx::GraphModule::create(*nn::Sequential::create(), std::move(graph));
}

TEST(NamedTraces, TheGreaterOfTwoSizesIsAGuardOfWhichItIs) {
  const auto gm = compared();
  CompileOptions options = quick();
  options.sizes = {{NamedSize{"n"}}, {NamedSize{"m"}}};
  compile(*gm, options);
  for (int64_t n = 2; n < 8; ++n)
    for (int64_t m = 2; m < 8; ++m) {
      const ValueList inputs{random_tensor({n, 4}), random_tensor({m, 4})};
      EXPECT_EQ(testing::value_difference(gm->forward(inputs),
                                          gm->interpret(inputs), 1e-6, 1e-6),
                "");
    }
  const Report report = make_report(*gm);
  // The lesser is all of x, or not, and equal ones stand between.
  EXPECT_LE(report.kinds.size(), 3U) << report.text();
  for (const KindReport& kind : report.kinds) {
    EXPECT_EQ(kind.why_not, "");
    for (const GuardReport& guard : kind.guards)
      EXPECT_FALSE(guard.specialises) << guard.text << ": " << guard.where;
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
