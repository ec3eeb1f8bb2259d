#include "src/check/check.h"

#include <utility>

#include "fxjit/error.h"
#include "src/check/node_search.h"
#include "src/check/pass_search.h"
#include "src/check/reducer.h"
#include "src/compile/compiled_module.h"
#include "src/compile/environment.h"
#include "src/ops/eager/backend.h"

namespace fxjit {
namespace checking {
namespace {

// Relative bounds for graphs that do not run in double precision: one for f32,
// one for types of 16 bits.
constexpr double kSingle = 1e-4, kHalf = 3e-2;

bool has_halves(const GraphCase& c) {
  bool found = false;
  const auto see = [&](const Value& leaf) {
    found = found || (leaf.is_tensor() &&
                      (leaf.as_tensor().dtype() == DType::f16 ||
                       leaf.as_tensor().dtype() == DType::bf16));
  };
  for (const Value& input : c.inputs) visit_leaves(input, see);
  for (const auto& [name, tensor] : c.constants) see(tensor);
  return found;
}

void refuse_random(const fx::Graph& graph) {
  for (const fx::Node* node : graph.nodes())
    if (!node->is(fx::Opcode::placeholder) && node->is_impure() &&
        !node->is_impure(/*impure_random=*/false))
      throw UserError("[check] %" + std::string(node->name()) +
                          " draws random numbers, which differ in each run",
                      node->error_context());
}

// The same graph, with all tensors of its result in one tuple.
GraphCase flattened(const GraphCase& c) {
  GraphCase made = c.copy();
  const fx::NodePtr output = made.graph->output_node();
  ValueList leaves;
  visit_leaves(output->arg(0), [&](const Value& leaf) {
    if (leaf.is_node()) leaves.push_back(leaf);
  });
  output->set_arg(0, Value::tuple(std::move(leaves)));
  return made;
}

CheckResult::Node described(const GraphCase& c, const WrongNode& wrong) {
  const fx::Node& node = *c.graph->find_node(wrong.name);
  CheckResult::Node made;
  made.report = {wrong.name, node.target().pretty(),
                 std::string(node.source().file), node.source().line};
  made.trace = node.stack_trace();
  made.difference = wrong.difference;
  return made;
}

const StepReport* find_step(const Report& report, std::string_view node) {
  const StepReport* found = nullptr;
  for (const ProgramReport& program : report.programs)
    for (const StepReport& step : program.steps)
      for (const NodeReport& computed : step.nodes)
        if (computed.name == node) found = &step;
  return found;
}

// The last step that computes the node. If no step does, because the node only
// takes a part of a tuple for example, the last step of the call whose value it
// is made of.
std::optional<StepReport> step_of(const Report& report, const fx::Node& node) {
  for (const fx::Node* at = &node; at && !at->is(fx::Opcode::placeholder);
       at = at->args().empty() ? nullptr : at->arg_node(0))
    if (const StepReport* const found = find_step(report, at->name()))
      return *found;
  return std::nullopt;
}

class Check {
 public:
  Check(const fx::GraphModule& module, std::span<const Value> inputs,
        const CheckOptions& options, passes::PassHooks hooks)
      : case_(case_of(module, inputs)),
        options_(options),
        subject_{options.compile, std::move(hooks)},
        judge_(options.tolerance) {}

  CheckResult run() {
    evaluate();
    compare();
    if (result_.agrees()) return std::move(result_);
    if (result_.interpreter_too)
      explain_interpreter();
    else
      explain_compiled();
    return std::move(result_);
  }

 private:
  void evaluate();
  void compare();
  std::string reference_difference(const Outcome& got) const;
  void explain_compiled();
  void explain_interpreter();
  void keep_reduced(const GraphCase& least);

  const GraphCase case_;
  const CheckOptions& options_;
  const Subject subject_;
  Judge judge_;
  Expected expected_;
  Report report_;
  CheckResult result_;
};

// Runs the interpreter. An error in the graph's own types is thrown on to the
// caller. An error in double precision alone leaves bounds of a fixed size.
void Check::evaluate() {
  if (options_.tolerance) {
    result_.bounds = "relative to the greatest number of a tensor";
    expected_ = judge_.expected(case_);
    return;
  }
  static_cast<void>(values_of_nodes(case_));
  try {
    expected_ = judge_.expected(case_);
    result_.bounds = "found by runs in double precision";
  } catch (const Error& error) {
    const double tolerance = has_halves(case_) ? kHalf : kSingle;
    judge_ = Judge(tolerance);
    expected_ = judge_.expected(case_);
    result_.bounds = (tolerance == kHalf ? "0.03" : "0.0001") +
                     std::string(" of a tensor's greatest number, since the "
                                 "graph does not run in double precision (") +
                     error.message() + ")";
  }
}

void Check::compare() {
  result_.results = expected_.interpreted.results;
  Outcome got;
  try {
    got = compiled_outcome(case_, subject_, &report_);
    result_.difference = difference(got, expected_);
  } catch (const std::exception& error) {
    result_.difference =
        std::string("the compiled call failed: ") + error.what();
    return;
  }
  if (!result_.difference.empty() || !options_.reference) return;
  result_.difference = reference_difference(got);
  result_.interpreter_too = !result_.difference.empty();
}

std::string Check::reference_difference(const Outcome& got) const {
  std::vector<Tensor> given;
  for (const Value& result : options_.reference->results)
    if (result.is_tensor()) given.push_back(result.as_tensor());
  if (given.size() != got.results)
    return options_.reference->name + " gives " + std::to_string(given.size()) +
           " tensors, the compiled module " + std::to_string(got.results);
  for (size_t i = 0; i < given.size(); ++i)
    if (given[i].sizes() != got.tensors[i].sizes())
      return got.name(i) + ": " + options_.reference->name + " gives sizes " +
             given[i].sizes().str() + ", the compiled module " +
             got.tensors[i].sizes().str();
  return result_difference(got, expected_of(given, expected_));
}

void Check::explain_compiled() {
  const ExpectedNodes nodes = judge_.expected_nodes(case_);
  const auto wrong = find_wrong_node(case_, nodes, subject_);
  GraphCase failing = flattened(case_);
  if (wrong) {
    result_.node = described(case_, *wrong);
    result_.step = step_of(report_, *case_.graph->find_node(wrong->name));
    GraphCase shorter = prefix_of(case_, wrong->name);
    if (judge_.fails(shorter, subject_)) failing = std::move(shorter);
  }
  if (!judge_.fails(failing, subject_)) return;
  if (options_.reduce)
    failing = reduce_graph(std::move(failing), [&](const GraphCase& smaller) {
      return judge_.fails(smaller, subject_);
    });
  PassFinding found = find_pass(failing, subject_, judge_);
  result_.pass = std::move(found.pass);
  result_.graph_shows_pass = found.graph_shows_pass;
  result_.right_without = std::move(found.right_without);
  if (!options_.reduce) return;
  GraphCase plain = with_numbers_inside(failing);
  keep_reduced(judge_.fails(plain, subject_) ? plain : failing);
}

void Check::explain_interpreter() {
  const ExpectedNodes nodes = judge_.expected_nodes(case_);
  const auto wrong =
      find_other_value(case_, nodes, options_.reference->nodes);
  if (!wrong) return;
  result_.node = described(case_, *wrong);
  result_.step = step_of(report_, *case_.graph->find_node(wrong->name));
  if (!options_.reduce) return;
  const GraphCase up_to = prefix_of(case_, wrong->name);
  keep_reduced(last_calls(up_to, 1, values_of_nodes(up_to)));
}

void Check::keep_reduced(const GraphCase& least) {
  GraphRun run = least.run();
  result_.reduced = std::move(run.module);
  result_.reduced_inputs = std::move(run.inputs);
}

}  // namespace

CheckResult check_with(const fx::GraphModule& module,
                       std::span<const Value> inputs,
                       const CheckOptions& options, passes::PassHooks hooks) {
  if (environment().interpreter_only)
    throw UserError(
        "[check] nothing is compiled, as FXJIT_BACKEND=interpreter asks");
  if (options.tolerance && !(*options.tolerance >= 0))
    throw UserError("[check] tolerance: expected 0 or more");
  const size_t wanted = module.graph().placeholders().size();
  if (inputs.size() != wanted)
    throw UserError("[check] inputs: expected " + std::to_string(wanted) +
                    ", got " + std::to_string(inputs.size()));
  check_options(options.compile);
  refuse_random(module.graph());
  const ops::PlainWindows plain;
  return Check(module, inputs, options, std::move(hooks)).run();
}

}  // namespace checking

CheckResult check(const fx::GraphModule& module, std::span<const Value> inputs,
                  const CheckOptions& options) {
  return checking::check_with(module, inputs, options, {});
}

}  // namespace fxjit
