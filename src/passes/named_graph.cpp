#include "src/passes/named_graph.h"

#include <algorithm>
#include <unordered_set>

#include "src/passes/evaluate.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/value_words.h"
#include "src/tensor/sizes/named.h"

namespace fxjit::passes {
namespace {

// What an opaque argument holds cannot be looked into. Bodies of branches and
// loops are planned for numbers.
void require_plain(const fx::Node& node) {
  if (node.called_op() == &control_op()) return;
  for (const Value& arg : node.args())
    visit_leaves(arg, [&](const Value& leaf) {
      if (leaf.is_opaque())
        throw NotImplementedError("an object among named sizes",
                                  node.error_context());
    });
}

}  // namespace

NamedGraph::NamedGraph(ModelGraph model, std::unique_ptr<SizeTable> table)
    : model_(std::move(model)), table_(std::move(table)) {
  find_made();
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
  // A node with its call, value, names and users, and its share of a region's
  // graph; an expression in all tables that know it. Of the heap that the
  // models of tests/import take, this is between 0.55 and 1.05.
  constexpr size_t kNodeBytes = 9216, kExpressionBytes = 512;
  size_t nodes = model_.graph->nodes().size();
  for (const auto& [name, region] : model_.regions)
    nodes += region.graph->nodes().size();
  return nodes * kNodeBytes +
         (table_->expressions() + table_->guards().size()) * kExpressionBytes;
}

// Constants that the fused graph reads, and what these are made of.
void NamedGraph::find_made() {
  std::unordered_set<const void*> wanted;
  for (const fx::NodePtr node : model_.graph->nodes()) {
    if (!node->is(fx::Opcode::get_attr)) continue;
    const auto index =
        static_cast<size_t>(node->meta().at("constant").as_int());
    const Tensor& constant = model_.constants[index];
    if (!constant.is_meta()) continue;
    stand_ins_.emplace_back(index, constant);
    wanted.insert(constant.id());
  }
  std::vector<MadeConstant> made = std::move(model_.made);
  model_.made.clear();
  for (size_t i = made.size(); i-- > 0;) {
    if (!wanted.contains(made[i].stand_in.id())) continue;
    for (const Value& arg : made[i].args)
      visit_leaves(arg, [&](const Value& leaf) {
        if (leaf.is_tensor()) wanted.insert(leaf.as_tensor().id());
      });
    made[i].present = {};
    made_.push_back(std::move(made[i]));
  }
  std::ranges::reverse(made_);
}

void NamedGraph::make_constants() {
  std::unordered_map<const void*, Tensor> known;
  for (const MadeConstant& made : made_) {
    ValueList args;
    for (const Value& arg : made.args)
      args.push_back(evaluated(map_leaves(arg, [&](const Value& leaf) {
        const auto at =
            leaf.is_tensor() ? known.find(leaf.as_tensor().id()) : known.end();
        return at == known.end() ? leaf : Value(at->second);
      })));
    const Value result = ops::run_eager({*made.op, args});
    known[made.stand_in.id()] =
        as_planned(result, evaluated(made.stand_in)).as_tensor();
  }
  for (const auto& [index, stand_in] : stand_ins_)
    model_.constants[index] = known.at(stand_in.id());
}

void NamedGraph::release_constants() {
  for (const auto& [index, stand_in] : stand_ins_)
    model_.constants[index] = stand_in;
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
  make_constants();
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
