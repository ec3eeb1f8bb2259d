// What reports say of one compiled program.
#include <algorithm>
#include <iterator>

#include "fxjit/fx/graph.h"
#include "src/compile/compiled_shape.h"
#include "src/compile/graph_parts.h"

namespace fxjit {

std::string inputs_text(const ValueList& signature) {
  std::string text;
  for (const Value& input : signature) {
    if (input.is_node()) continue;
    if (!text.empty()) text += ", ";
    text += input.is_tensor() ? input.as_tensor().describe() : repr(input);
  }
  return text;
}

namespace {

NodeReport node_report(const fx::Node& node) {
  return {std::string(node.name()), std::string(node.target_name()),
          std::string(node.source().file), node.source().line};
}

StepReport native_step(const program::StepTimes::Row& row,
                       const fx::Graph* graph) {
  StepReport report;
  report.label = row.step->label;
  report.body = row.body;
  report.kernel = "generated";
  report.way = passes::image_way_text(row.step->way);
  if (row.external) {
    report.by = row.external->computed_by();
    report.kernel = row.external->describe();
  }
  if (report.by == ComputedBy::eager)
    report.reason = "the op has no generated code for these arguments";
  // Bodies have graphs of their own.
  const bool known = graph && row.body.empty();
  for (const std::string& name : *row.step->nodes) {
    const fx::Node* node = known ? graph->find_node(name) : nullptr;
    report.nodes.push_back(node ? node_report(*node)
                                : NodeReport{name, "", "", 0});
  }
  return report;
}

}  // namespace

StepReport step_between(const fx::Node& node, bool native, std::string reason) {
  StepReport report;
  report.by = native ? ComputedBy::routine : ComputedBy::interpreter;
  report.label = std::string(node.target_name());
  report.kernel = native ? "loops, size from data" : "interpreter";
  report.nodes = {node_report(node)};
  report.reason = std::move(reason);
  return report;
}

ProgramReport CompiledShape::heading() const {
  ProgramReport report;
  report.inputs = inputs_text(parts_.signature);
  if (parts_.begin) report.begin = std::string(parts_.begin->name());
  report.why_not = parts_.why_not;
  return report;
}

ProgramReport CompiledShape::report() const {
  ProgramReport report = heading();
  if (!report.why_not.empty()) return report;
  const fx::Graph* graph =
      parts_.source ? &parts_.source->module->graph() : nullptr;
  if (native())
    for (const auto& row : program::StepTimes().rows(*parts_.executable))
      report.steps.push_back(native_step(row, graph));
  if (parts_.stop) {
    report.steps.push_back(
        step_between(*parts_.stop, native_stop(), parts_.why_stop));
    std::ranges::move(body_steps(parts_.stop_bodies),
                      std::back_inserter(report.steps));
  }
  return report;
}

}  // namespace fxjit
