// Every row, compiled: the strides of its results, against what torch showed
// (tests/ops/make_layouts.py).
#include <gtest/gtest.h>

#include <map>
#include <span>

#include "tests/compile/compile_testing.h"
#include "tests/compile/op_cases.h"
#include "tests/ops/storages.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

constexpr int kOfARow = 5;

std::vector<testing::OpCase> cases_to_compile() {
  std::vector<testing::OpCase> cases;
  std::map<std::string, int> taken;
  for (const testing::StructuredCase& c :
       testing::read_structured_reference("layouts_reference.txt")) {
    if (taken[c.op]++ >= kOfARow) continue;
    ValueList args;
    for (const Value& arg : c.args) args.push_back(testing::apart(arg));
    Kwargs kwargs = c.kwargs;
    for (auto& [name, value] : kwargs) value = testing::apart(value);
    cases.push_back({&ops::get_op(c.op), c.text, args, kwargs, c.expected});
  }
  return cases;
}

TEST(LayoutRows, OfEveryRowAreThoseOfTorch) {
  const std::vector<testing::OpCase> all = cases_to_compile();
  constexpr size_t kCasesPerGraph = 300;
  for (size_t at = 0; at < all.size(); at += kCasesPerGraph) {
    const auto cases =
        std::span(all).subspan(at, std::min(kCasesPerGraph, all.size() - at));
    const testing::CaseGraph graph = testing::graph_of(cases);
    compile(*graph.module, testing::quick());
    const Value got = graph.module->forward(graph.inputs);
    for (size_t i = 0; i < cases.size(); ++i) {
      const std::string expected(cases[i].expected.as_string());
      EXPECT_EQ(testing::layouts(got.at(i), expected), expected)
          << cases[i].text;
    }
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
