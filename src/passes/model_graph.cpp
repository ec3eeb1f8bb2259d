#include "src/passes/model_graph.h"

#include "src/passes/internal_ops.h"

namespace fxjit::passes {
namespace {

[[noreturn]] void misfit(const fx::Node& node, const std::string& why) {
  throw InternalError("verify: %" + std::string(node.name()) + " " + why,
                      node.error_context());
}

void verify_call(const ModelGraph& model, const fx::Node& node) {
  if (model.form == GraphForm::fused && node.is(fx::Opcode::call_module)) {
    if (!model.regions.contains(node.target_name()))
      misfit(node, "calls an unknown region");
    return;
  }
  const ops::Op* op = node.called_op();
  if (!op) misfit(node, "is not a call of a known op");
  if (node.args().size() != op->parameters.size() || !node.kwargs().empty())
    misfit(node, "does not bind every parameter by position");
  if (model.form == GraphForm::normalized) return;
  const bool view = op->row.lowering == ops::Lowering::view;
  if (view && op != &as_strided_op()) misfit(node, "is a view");
  if (view && node.arg_node(0)->called_op() == op)
    misfit(node, "is a view of a view");
}

}  // namespace

const Tensor& ModelGraph::constant(const fx::Node& node) const {
  return constants[node.meta().at("constant").as_int()];
}

const Region& ModelGraph::region(const fx::Node& node) const {
  const auto found = regions.find(node.target_name());
  FXJIT_CHECK(found != regions.end(), "node calls a region");
  return found->second;
}

std::string ModelGraph::str() const {
  std::string text = graph->str();
  for (const auto& [name, region] : regions)
    text += "\n\n" + name + " = " + region.graph->str();
  return text;
}

void verify(const ModelGraph& model) {
  model.graph->lint();
  for (const fx::Node* node : model.graph->nodes()) {
    if (node->is(fx::Opcode::output)) continue;
    if (node->val().is_none()) misfit(*node, "has no inferred value");
    if (node->is(fx::Opcode::placeholder) || node->is(fx::Opcode::get_attr))
      continue;
    verify_call(model, *node);
  }
}

}  // namespace fxjit::passes
