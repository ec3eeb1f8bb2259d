// Every op row, compiled at every CPU level of this machine, against PyTorch's
// committed results and the interpreter: dtypes, promotion, broadcasting,
// strides, empty, size-1 and 0-d tensors, NaN and infinities. Many calls stand
// in one graph, so that compiling stays quick.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fxjit/report.h"
#include "src/ops/table/op_facts.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/op_cases.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

using namespace testing;  // Of this folder, not of GoogleTest.

constexpr size_t kCasesPerGraph = 400;

template <typename Fn>
bool any_tensor(const OpCase& c, Fn fn) {
  bool found = false;
  for (const Value& arg : c.args)
    visit_leaves(arg, [&](const Value& leaf) {
      found |= leaf.is_tensor() && fn(leaf.as_tensor());
    });
  return found;
}

bool has_integers(const OpCase& c) {
  return any_tensor(c, [](const Tensor& t) {
    return !is_floating(t.dtype()) && !is_complex(t.dtype());
  });
}

bool has_doubles(const OpCase& c) {
  return any_tensor(c, [](const Tensor& t) {
    return t.dtype() == DType::f64 || t.dtype() == DType::c128;
  });
}

// What a running sum is summed in; integers and bools in i64.
DType summed(DType dtype) {
  return dtype == DType::boolean || is_integral(dtype) ? DType::i64 : dtype;
}

// Whether the row's facts leave the call, which gives `first`, to the eager
// function.
bool is_left_out(const OpCase& c, const Value& first) {
  switch (ops::facts_of(*c.op).native) {
    case ops::NativeCalls::all:
      return false;
    case ops::NativeCalls::products:
      return has_integers(c);
    case ops::NativeCalls::single:
      return has_integers(c) || has_doubles(c);
    case ops::NativeCalls::sums:
      return c.args[0].as_tensor().dim() == 0 ||
             first.as_tensor().dtype() != summed(c.args[0].as_tensor().dtype());
    case ops::NativeCalls::quotients:
      return c.args[1].is_tensor() && !is_floating(first.as_tensor().dtype()) &&
             !is_complex(first.as_tensor().dtype());
    case ops::NativeCalls::elements:
      return first.as_tensor().dim() == 0 || c.args[0].as_tensor().numel() == 0;
  }
  throw InternalError("native calls out of range");
}

// Calls that run by their eager functions inside a compiled program. Everything
// else has generated code in every case: a fallback fails the test.
bool runs_eagerly(const OpCase& c) {
  const Value first = c.expected.is_tuple() && c.expected.size() > 0
                          ? c.expected.at(0)
                          : c.expected;
  if (first.is_tensor() && first.as_tensor().numel() == 0) return false;
  // Places of the greatest come from the plain kernel.
  if (c.op->row.lowering == ops::Lowering::pool && c.expected.is_tuple())
    return true;
  return is_left_out(c, first);
}

bool has_small_integers(const OpCase& c) {
  return any_tensor(c, [](const Tensor& t) {
    return is_integral(t.dtype()) && dtype_size(t.dtype()) <= 2;
  });
}

// Either way is fine: doubles and small integers are multiplied fast where a
// product is one of matrices.
bool may_run_eagerly(const OpCase& c) {
  return (has_doubles(c) || has_small_integers(c)) &&
         (ops::facts_of(*c.op).native == ops::NativeCalls::products ||
          c.op->row.lowering == ops::Lowering::attention);
}

void check_case(const OpCase& c, const Value& got, const Value& interpreted,
                bool native) {
  SCOPED_TRACE(c.text);
  EXPECT_EQ(difference(got, c.expected, false), "");
  EXPECT_EQ(difference(got, interpreted, false), "");
  if (may_run_eagerly(c)) return;
  EXPECT_EQ(native, !runs_eagerly(c));
}

std::set<std::string> eager_nodes(const CaseGraph& graph) {
  std::set<std::string> nodes;
  for (const StepView& step : steps_for(*graph.module, graph.inputs))
    if (!step.native) nodes.insert(step.nodes.begin(), step.nodes.end());
  return nodes;
}

// Cases that keep the others from compiling are found by halving.
void check_cases(std::span<const OpCase> cases, CpuLevel level) {
  CaseGraph graph = graph_of(cases);
  compile(*graph.module, options_for(level));
  if (!prepare(*graph.module, graph.inputs)) {
    if (cases.size() == 1) {
      ADD_FAILURE() << cases[0].text
                    << "\nis not compiled: " << report(*graph.module);
      return;
    }
    check_cases(cases.first(cases.size() / 2), level);
    check_cases(cases.subspan(cases.size() / 2), level);
    return;
  }
  const std::set<std::string> eager = eager_nodes(graph);
  const Value got = graph.module->forward(graph.inputs);
  const Value interpreted = graph.module->interpret(graph.inputs);
  for (size_t i = 0; i < cases.size(); ++i)
    check_case(cases[i], got.at(i), interpreted.at(i),
               !eager.contains(case_node(i)));
}

using Parameter = std::tuple<CpuLevel, size_t>;

class CompiledOps : public ::testing::TestWithParam<Parameter> {};

// Narrower levels do a third of each op's cases, another third each.
std::vector<OpCase> cases_of(CpuLevel level, size_t part) {
  const auto& all = op_cases();
  const size_t first = part * kCasesPerGraph;
  const size_t last = std::min(first + kCasesPerGraph, all.size());
  std::vector<OpCase> cases;
  for (size_t i = first; i < last; ++i) {
    const bool first_of_op = i == 0 || all[i].op != all[i - 1].op;
    if (level == host_cpu_level() || first_of_op ||
        i % 3 == static_cast<size_t>(level))
      cases.push_back(all[i]);
  }
  return cases;
}

TEST_P(CompiledOps, EqualPyTorch) {
  const auto [level, part] = GetParam();
  check_cases(cases_of(level, part), level);
}

std::vector<size_t> parts() {
  std::vector<size_t> list;
  for (size_t i = 0; i * kCasesPerGraph < op_cases().size(); ++i)
    list.push_back(i);
  return list;
}

INSTANTIATE_TEST_SUITE_P(Levels, CompiledOps,
                         ::testing::Combine(::testing::ValuesIn(host_levels()),
                                            ::testing::ValuesIn(parts())),
                         [](const auto& info) {
                           return std::string(
                                      cpu_level_name(std::get<0>(info.param))) +
                                  "_" + std::to_string(std::get<1>(info.param));
                         });

// Calls whose result's size is data run between programs, and nothing is said;
// of others a warning tells.
TEST(CompiledOpRows, UncompiledCasesRunOutsideOfPrograms) {
  int between = 0, interpreted = 0;
  for (const OpCase& c : uncompiled_cases()) {
    SCOPED_TRACE(c.text);
    WarningLog log;
    CaseGraph graph = graph_of({&c, 1});
    compile(*graph.module, options_for(host_cpu_level()));
    EXPECT_FALSE(prepare(*graph.module, graph.inputs));
    EXPECT_EQ(difference(graph.module->forward(graph.inputs).at(0), c.expected,
                         false),
              "");
    const bool native = make_report(*graph.module).native();
    ++(native ? between : interpreted);
    EXPECT_EQ(log.messages().size(), native ? 0u : 1u);
  }
  EXPECT_GT(between, 0);
  EXPECT_GT(interpreted, 0);
}

TEST(CompiledOpRows, EachHasACase) {
  std::set<const ops::Op*> covered;
  for (const auto* cases : {&op_cases(), &uncompiled_cases(), &random_cases()})
    for (const OpCase& c : *cases) covered.insert(c.op);
  for (const ops::Op* op : ops::all_ops()) {
    if (op->name().starts_with("fxjit.")) continue;
    if (ops::facts_of(*op).undetermined) continue;
    if (op->row.purity == ops::Purity::mutates) continue;
    EXPECT_TRUE(covered.contains(op)) << "row " << op->name();
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
