#include "src/passes/named_graph.h"

#include "src/passes/lowering/internal_ops.h"
#include "src/passes/size_values.h"
#include "src/passes/value_words.h"

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
    region.reads_sizes = collect(*region.graph);
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

// Constants that the fused graph reads.
void NamedGraph::find_made() {
  std::vector<const void*> wanted;
  for (const fx::NodePtr node : model_.graph->nodes()) {
    if (!node->is(fx::Opcode::get_attr)) continue;
    const auto index =
        static_cast<size_t>(node->meta().at("constant").as_int());
    const Tensor& constant = model_.constants[index];
    if (!constant.is_meta()) continue;
    stand_ins_.emplace_back(index, constant);
    wanted.push_back(constant.id());
  }
  constants_ = std::make_unique<SizedConstants>(std::move(model_.made), wanted);
  model_.made.clear();
}

void NamedGraph::release_constants() {
  for (const auto& [index, stand_in] : stand_ins_)
    model_.constants[index] = stand_in;
  constants_->forget_sizes();
}

// Whether calls have names among their arguments.
bool NamedGraph::collect(fx::Graph& graph) {
  bool read = false;
  for (const fx::NodePtr node : graph.nodes()) {
    require_plain(*node);
    NamedNode found{node.get(), place_of(node->val()), {}};
    for (size_t i = 0; i < node->args().size(); ++i)
      if (const int32_t place = place_of(node->arg(i)); place >= 0)
        found.args.emplace_back(i, place);
    read |= !found.args.empty();
    if (found.val >= 0 || !found.args.empty())
      nodes_.push_back(std::move(found));
  }
  return read;
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
  const SizeValues values{*table_, values_};
  ValueList present;
  present.reserve(distinct_.size());
  for (const Value& value : distinct_) present.push_back(values.of(value));
  const auto at = [&](int32_t place) -> const Value& {
    return present[static_cast<size_t>(place)];
  };
  for (const NamedNode& named : nodes_) {
    if (named.val >= 0) named.node->set_val(at(named.val));
    for (const auto& [i, arg] : named.args) named.node->set_arg(i, at(arg));
  }
  constants_->forget_sizes();
  for (const auto& [index, stand_in] : stand_ins_)
    model_.constants[index] = constants_->at(stand_in, values);
  for (const auto& [region, domain] : domains_)
    region->domain = values.of(domain);
  for (const auto& [i, view] : views_) model_.results[i].view = values.of(view);
  return &model_;
}

}  // namespace fxjit::passes
