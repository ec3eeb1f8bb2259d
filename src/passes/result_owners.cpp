#include "src/passes/result_owners.h"

#include "src/passes/internal_ops.h"
#include "src/passes/memory_classes.h"

namespace fxjit::passes {
namespace {

bool is_memory(const Value& leaf) { return leaf.is_tensor() || leaf.is_proxy(); }

// The node whose memory a normalised call gives on, or null: told by lowering
// the call alone.
const fx::Node* viewed(const fx::Node& node) {
  const ops::Op* op = node.called_op();
  if (!op || op == &item_op() || gives_fresh_memory(*op)) return nullptr;
  GraphBuilder alone({.lower = true});
  std::vector<std::pair<const fx::Node*, const fx::Node*>> inputs;
  ValueList args;
  for (const Value& arg : node.args())
    args.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
      if (!leaf.is_node()) return leaf;
      const Tensor& t = leaf.as_node()->val_tensor();
      const Value input = alone.placeholder(
          leaf.as_node()->name(), Tensor::meta(t.sizes(), t.dtype(), t.strides()));
      inputs.emplace_back(GraphBuilder::node_of(input), leaf.as_node());
      return input;
    }));
  const Value result = alone.call(*op, std::move(args));
  if (!result.is_proxy()) return nullptr;
  const fx::Node* made = GraphBuilder::node_of(result);
  if (made->called_op() == &as_strided_op()) made = made->arg_node(0);
  for (const auto& [input, original] : inputs)
    if (input == made) return original;
  return nullptr;
}

}  // namespace

const void* ResultOwners::root(const Value& leaf) {
  if (leaf.is_tensor()) return leaf.as_tensor().storage().get();
  const auto known = [&](const fx::Node& node) -> const void*& {
    if (roots_.size() <= node.id()) roots_.resize(node.id() + 1);
    return roots_[node.id()];
  };
  const fx::Node* const top = GraphBuilder::node_of(leaf);
  const fx::Node* node = top;
  while (!known(*node)) {
    if (const fx::Node* from = viewed(*node))
      node = from;
    else
      known(*node) = builder_.constant_memory(*node);
  }
  return known(*top) = known(*node);
}

const fx::Node* ResultOwners::argument_behind(const fx::Node& node) {
  const void* own = nullptr;
  visit_leaves(values_[node.id()], [&](const Value& leaf) {
    if (!own && is_memory(leaf)) own = root(leaf);
  });
  const fx::Node* found = nullptr;
  for (const fx::Node* input : node.all_input_nodes())
    visit_leaves(values_[input->id()], [&](const Value& leaf) {
      if (own && is_memory(leaf) && root(leaf) == own) found = input;
    });
  return found;
}

// The node that made the memory.
const fx::Node* ResultOwners::owner(const fx::Node* node) {
  const fx::Node* const top = node;
  while (true) {
    Fact& fact = facts_[node->id()];
    if (fact.kind == Kind::unclear) {
      fact.from = argument_behind(*node);
      fact.kind = fact.from ? Kind::write : Kind::fresh;
    }
    if (!fact.from) break;
    node = fact.from;
  }
  if (node != top) facts_[top->id()].from = node;  // Chains are walked once.
  return node;
}

std::vector<int32_t> ResultOwners::of(const Value& captured) {
  std::vector<int32_t> owners;
  const auto add = [&](const Value& value, int32_t owner) {
    visit_leaves(value, [&](const Value& leaf) {
      if (is_memory(leaf)) owners.push_back(owner);
    });
  };
  visit_leaves(captured, [&](const Value& leaf) {
    if (!leaf.is_node()) return add(leaf, -1);
    const fx::Node* node = leaf.as_node();
    add(values_[node->id()], static_cast<int32_t>(owner(node)->id()));
  });
  return owners;
}

}  // namespace fxjit::passes
