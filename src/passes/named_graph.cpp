#include "src/passes/named_graph.h"

#include "src/tensor/sizes/named.h"

namespace fxjit::passes {
namespace {

// What an opaque argument holds cannot be looked into.
void require_plain(const fx::Node& node) {
  for (const Value& arg : node.args())
    visit_leaves(arg, [&](const Value& leaf) {
      if (leaf.is_opaque())
        throw NotImplementedError("a branch or loop among named sizes",
                                  node.error_context());
    });
}

}  // namespace

NamedGraph::NamedGraph(ModelGraph model, std::unique_ptr<SizeTable> table)
    : model_(std::move(model)), table_(std::move(table)) {
  collect(*model_.graph);
  for (auto& [name, region] : model_.regions) {
    collect(*region.graph);
    if (has_name(region.domain)) domains_.emplace_back(&region, region.domain);
  }
  for (size_t i = 0; i < model_.results.size(); ++i)
    if (const Tensor& view = model_.results[i].view;
        view.defined() && has_name(view))
      views_.emplace_back(i, view);
}

void NamedGraph::collect(fx::Graph& graph) {
  for (const fx::NodePtr node : graph.nodes()) {
    require_plain(*node);
    NamedNode found{
        node.get(), has_name(node->val()) ? node->val() : Value(), {}};
    for (size_t i = 0; i < node->args().size(); ++i)
      if (has_name(node->arg(i))) found.args.emplace_back(i, node->arg(i));
    if (!found.val.is_none() || !found.args.empty())
      nodes_.push_back(std::move(found));
  }
}

const ModelGraph* NamedGraph::at(std::span<const int64_t> names) {
  if (!table_->evaluate(names, values_)) return nullptr;
  for (const NamedNode& named : nodes_) {
    if (!named.val.is_none()) named.node->set_val(evaluated(named.val));
    for (const auto& [i, arg] : named.args)
      named.node->set_arg(i, evaluated(arg));
  }
  for (const auto& [region, domain] : domains_)
    region->domain = evaluated(domain);
  for (const auto& [i, view] : views_) model_.results[i].view = evaluated(view);
  return &model_;
}

Value NamedGraph::evaluated(const Value& value) const {
  return map_leaves(value, [this](const Value& leaf) -> Value {
    if (leaf.is_tensor()) return evaluated(leaf.as_tensor());
    if (!leaf.is_named_size()) return leaf;
    return table_->value(leaf.as_size(), values_);
  });
}

Tensor NamedGraph::evaluated(const Tensor& tensor) const {
  if (!has_name(tensor)) return tensor;
  return Tensor::meta(evaluated(tensor.sizes()), tensor.dtype(),
                      evaluated(tensor.strides()),
                      table_->value(tensor.offset(), values_));
}

Dims NamedGraph::evaluated(const Dims& dims) const {
  Dims result = dims;
  for (Size& size : result) size = table_->value(size, values_);
  return result;
}

}  // namespace fxjit::passes
