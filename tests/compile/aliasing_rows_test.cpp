// Every row, compiled: whose memory its results are, against what torch's
// storages showed (tests/ops/make_aliasing.py).
#include <gtest/gtest.h>

#include <span>

#include "tests/compile/compile_testing.h"
#include "tests/compile/op_cases.h"
#include "tests/ops/storages.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

std::vector<testing::OpCase> cases_to_compile() {
  std::vector<testing::OpCase> cases;
  std::string last;
  for (const testing::StructuredCase& c :
       testing::read_structured_reference("aliasing_reference.txt")) {
    const ops::Op& op = ops::get_op(c.op);
    const bool own = c.expected.as_string().find('0') == std::string::npos;
    const bool more = own && c.op == last;
    last = c.op;
    const std::vector<Value> args = ops::bind(op, c.args, c.kwargs);
    if (more || ops::writes_input({op, args})) continue;
    ValueList args_apart;
    for (const Value& arg : c.args) args_apart.push_back(testing::apart(arg));
    Kwargs kwargs = c.kwargs;
    for (auto& [name, value] : kwargs) value = testing::apart(value);
    cases.push_back({&op, c.text, args_apart, kwargs, c.expected});
  }
  return cases;
}

TEST(AliasingRows, OfEveryRowAreThoseOfTorch) {
  const std::vector<testing::OpCase> all = cases_to_compile();
  constexpr size_t kCasesPerGraph = 300;
  for (size_t at = 0; at < all.size(); at += kCasesPerGraph) {
    const auto cases =
        std::span(all).subspan(at, std::min(kCasesPerGraph, all.size() - at));
    const testing::CaseGraph graph = testing::graph_of(cases);
    compile(*graph.module, testing::quick());
    const Value got = graph.module->forward(graph.inputs);
    for (size_t i = 0; i < cases.size(); ++i)
      EXPECT_EQ(
          testing::memories(got.at(i), ops::bind(*cases[i].op, cases[i].args,
                                                 cases[i].kwargs)),
          cases[i].expected.as_string())
          << cases[i].text;
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
