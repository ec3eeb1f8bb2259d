// What reports say of one compiled program.
#include "src/compile/shape_report.h"
#include "fxjit/fx/graph.h"
#include "src/compile/compiled_shape.h"
#include "src/compile/graph_parts.h"

namespace fxjit {
namespace {

std::string inputs_text(const ValueList& signature) {
  std::string text;
  for (const Value& input : signature) {
    if (input.is_node()) continue;
    if (!text.empty()) text += ", ";
    text += input.is_tensor() ? input.as_tensor().describe() : repr(input);
  }
  return text;
}

NodeReport node_report(const fx::Node& node) {
  return {std::string(node.name()), std::string(node.target_name()),
          std::string(node.source().file), node.source().line};
}

StepReport native_step(const program::Executable& executable, size_t index,
                       const fx::Graph* graph) {
  const program::Step& step = executable.program().steps[index];
  StepReport report;
  report.label = step.label;
  report.kernel = "generated";
  if (const program::ExternCode* external = executable.external(index)) {
    report.by = external->computed_by();
    report.kernel = external->describe();
  }
  if (report.by == ComputedBy::eager)
    report.reason = "the op has no generated code for these arguments";
  for (const std::string& name : step.nodes) {
    const fx::Node* node = graph ? graph->find_node(name) : nullptr;
    report.nodes.push_back(node ? node_report(*node)
                                : NodeReport{name, "", "", 0});
  }
  return report;
}

// All steps of a program, those of the programs that a step calls behind it.
void add_steps(const program::Executable& executable, const std::string& body,
               const fx::Graph* graph, std::vector<StepReport>& steps) {
  for (size_t i = 0; i < executable.program().steps.size(); ++i) {
    steps.push_back(native_step(executable, i, graph));
    steps.back().body = body;
    const program::ExternCode* const external = executable.external(i);
    if (!external) continue;
    for (const program::ExternCode::Body& inner : external->bodies())
      add_steps(*inner.program,
                body.empty() ? inner.name : body + "." + inner.name, nullptr,
                steps);
  }
}

}  // namespace

StepReport interpreted_step(const fx::Node& node, std::string reason) {
  StepReport report;
  report.by = ComputedBy::interpreter;
  report.label = std::string(node.target_name());
  report.kernel = "interpreter";
  report.nodes = {node_report(node)};
  report.reason = std::move(reason);
  return report;
}

ProgramReport CompiledShape::report() const {
  ProgramReport report;
  report.inputs = inputs_text(parts_.signature);
  if (parts_.begin) report.begin = std::string(parts_.begin->name());
  report.why_not = parts_.why_not;
  if (!report.why_not.empty()) return report;
  const fx::Graph* graph =
      parts_.source ? &parts_.source->module->graph() : nullptr;
  if (native()) add_steps(*parts_.executable, "", graph, report.steps);
  if (parts_.stop)
    report.steps.push_back(interpreted_step(*parts_.stop, parts_.why_stop));
  return report;
}

}  // namespace fxjit
