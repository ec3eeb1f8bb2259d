#include "src/passes/model_graph.h"

#include "src/passes/lowering/internal_ops.h"

namespace fxjit::passes {
namespace {

[[noreturn]] void misfit(const fx::Node& node, const std::string& why) {
  throw InternalError("verify: %" + std::string(node.name()) + " " + why,
                      node.error_context());
}

void verify_view(const fx::Node& node) {
  if (node.called_op() != &as_strided_op()) misfit(node, "is a view");
  const fx::Node& root = *node.arg_node(0);
  if (root.called_op() == &as_strided_op()) misfit(node, "is a view of a view");
  const Tensor &view = node.val_tensor(), &from = root.val_tensor();
  if (view.numel() > 0 && (from.numel() == 0 || end_of(view) > end_of(from)))
    misfit(node, "reaches outside of its input");
}

void verify_call(const fx::Node& node, GraphStage stage) {
  const ops::Op* op = node.called_op();
  if (!op) misfit(node, "is not a call of a known op");
  if (node.args().size() != op->parameters.size() || !node.kwargs().empty())
    misfit(node, "does not bind every parameter by position");
  if (op->row.lowering == ops::Lowering::inlined)
    misfit(node, "stands for calls that are not there");
  if (stage == GraphStage::normalized) return;
  if (op->row.lowering == ops::Lowering::view) verify_view(node);
  if (op->row.lowering == ops::Lowering::decompose)
    misfit(node, "is not lowered");
}

void verify_nodes(const ModelGraph& model, const fx::Graph& graph,
                  const Region* region);

void verify_region_call(const ModelGraph& model, const fx::Node& node) {
  const auto found = model.regions.find(node.target_name());
  if (found == model.regions.end()) misfit(node, "calls an unknown region");
  const Region& region = found->second;
  if (region.graph->placeholders().size() != node.args().size())
    misfit(node, "gives another number of inputs than its region takes");
  verify_nodes(model, *region.graph, &region);
}

void verify_node(const ModelGraph& model, const fx::Node& node,
                 const Region* region) {
  if (node.val().is_none()) misfit(node, "has no inferred value");
  if (node.is(fx::Opcode::placeholder)) return;
  if (node.is(fx::Opcode::get_attr)) {
    const Value* index = node.meta().find("constant");
    if (region || !index || index->as_int() < 0 ||
        static_cast<size_t>(index->as_int()) >= model.constants.size())
      misfit(node, "names no constant of the model");
    return;
  }
  const bool fused = model.stage == GraphStage::fused && !region;
  if (fused && node.is(fx::Opcode::call_module))
    return verify_region_call(model, node);
  verify_call(node, region ? GraphStage::lowered : model.stage);
  if (fused && node.called_op() != &as_strided_op() &&
      node.called_op() != &item_op())
    misfit(node, "is in no region");
}

void verify_nodes(const ModelGraph& model, const fx::Graph& graph,
                  const Region* region) {
  graph.lint();
  for (const fx::Node* node : graph.nodes())
    if (!node->is(fx::Opcode::output)) verify_node(model, *node, region);
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

ValueList vals_of(const ValueList& args) {
  ValueList vals;
  for (const Value& arg : args)
    vals.push_back(map_leaves(arg, [](const Value& leaf) {
      return leaf.is_node() ? leaf.as_node()->val() : leaf;
    }));
  return vals;
}

Size end_of(const Tensor& t) {
  Size last = t.offset();
  for (int d = 0; d < t.dim(); ++d) last += (t.sizes()[d] - 1) * t.strides()[d];
  return (last + 1) * static_cast<int64_t>(t.item_size());
}

void verify(const ModelGraph& model) {
  verify_nodes(model, *model.graph, nullptr);
}

}  // namespace fxjit::passes
