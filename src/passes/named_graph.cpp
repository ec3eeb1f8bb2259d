#include "src/passes/named_graph.h"

#include "src/passes/value_words.h"
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
  make_constants();
  collect(*model_.graph);
  for (auto& [name, region] : model_.regions) {
    collect(*region.graph);
    if (has_name(region.domain)) domains_.emplace_back(&region, region.domain);
  }
  for (size_t i = 0; i < model_.results.size(); ++i)
    if (const Tensor& view = model_.results[i].view;
        view.defined() && has_name(view))
      views_.emplace_back(i, view);
  bytes_ = counted_bytes();
}

size_t NamedGraph::counted_bytes() const {
  // Estimates, not measured: a node with its call, value, names and users, an
  // expression in all tables that know it.
  constexpr size_t kNodeBytes = 1536, kExpressionBytes = 512;
  size_t nodes = model_.graph->nodes().size();
  for (const auto& [name, region] : model_.regions)
    nodes += region.graph->nodes().size();
  return nodes * kNodeBytes +
         (table_->expressions() + table_->guards().size()) * kExpressionBytes;
}

// Whether the call gives one tensor that depends on named sizes alone: a call
// of one op without tensors.
bool NamedGraph::is_made_of_sizes(const fx::Node& node) const {
  if (!node.is(fx::Opcode::call_module) || !node.args().empty()) return false;
  const Region& region = model_.region(node);
  if (region.kind != Region::Kind::call || node.val().size() != 1) return false;
  const fx::Node& call = **region.graph->nodes().begin();
  return call.called_op() &&
         call.called_op()->row.purity == ops::Purity::pure &&
         (has_name(call.val()) || has_name(Value::tuple(call.args())));
}

// Constants in place of such calls, as in a graph that was made of numbers.
void NamedGraph::make_constants() {
  std::vector<fx::NodePtr> calls;
  for (const fx::NodePtr node : model_.graph->nodes())
    if (is_made_of_sizes(*node)) calls.push_back(node);
  for (const fx::NodePtr node : calls) {
    const auto region = model_.regions.find(node->target_name());
    const fx::Node& call = **region->second.graph->nodes().begin();
    const size_t index = model_.constants.size();
    made_.push_back({index, call.called_op(), call.args()});
    model_.constants.emplace_back();
    const auto place = model_.graph->inserting_before(node);
    const fx::NodePtr constant =
        model_.graph->get_attr("constant_" + std::to_string(index));
    constant->meta().set("constant", static_cast<int64_t>(index));
    constant->meta().set("computed", true);
    constant->set_val(node->val().at(0));
    for (const fx::NodePtr item : node->users().list()) {
      item->replace_all_uses_with(constant);
      model_.graph->erase_node(item);
    }
    model_.graph->erase_node(node);
    model_.regions.erase(region);
  }
}

void NamedGraph::collect(fx::Graph& graph) {
  for (const fx::NodePtr node : graph.nodes()) {
    require_plain(*node);
    NamedNode found{node.get(), place_of(node->val()), {}};
    for (size_t i = 0; i < node->args().size(); ++i)
      if (const int32_t place = place_of(node->arg(i)); place >= 0)
        found.args.emplace_back(i, place);
    if (found.val >= 0 || !found.args.empty())
      nodes_.push_back(std::move(found));
  }
}

int32_t NamedGraph::place_of(const Value& value) {
  if (!has_name(value)) return -1;
  const auto next = static_cast<int32_t>(distinct_.size());
  ValueWords words;
  words.add(value);
  if (words.is_known()) {
    const auto [known, fresh] = places_.emplace(words.text(), next);
    if (!fresh) return known->second;
  }
  distinct_.push_back(value);
  return next;
}

const ModelGraph* NamedGraph::at(std::span<const int64_t> names) {
  if (!table_->evaluate(names, values_)) return nullptr;
  ValueList present;
  for (const Value& value : distinct_) present.push_back(evaluated(value));
  const auto at = [&](int32_t place) -> const Value& {
    return present[static_cast<size_t>(place)];
  };
  for (const NamedNode& named : nodes_) {
    if (named.val >= 0) named.node->set_val(at(named.val));
    for (const auto& [i, arg] : named.args) named.node->set_arg(i, at(arg));
  }
  for (const MadeConstant& made : made_) {
    ValueList args;
    for (const Value& arg : made.args) args.push_back(evaluated(arg));
    model_.constants[made.index] = ops::run_eager({*made.op, args}).as_tensor();
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
