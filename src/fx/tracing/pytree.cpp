#include "fxjit/fx/pytree.h"

#include <algorithm>

namespace fxjit::fx {
namespace {

// Applies `fn` to every leaf, rebuilding the containers.
template <typename Fn>
Value map_tree(const Value& tree, Fn&& fn) {
  if (tree.is_dict()) {
    ValueDict items;
    for (const auto& [key, item] : tree.as_dict())
      items.emplace_back(key, map_tree(item, fn));
    return Value::dict(std::move(items));
  }
  if (!tree.is_sequence()) return fn(tree);
  ValueList items;
  items.reserve(tree.size());
  for (const Value& item : tree.as_sequence())
    items.push_back(map_tree(item, fn));
  return tree.is_list() ? Value::list(std::move(items))
                        : Value::tuple(std::move(items));
}

const Value& sequence_part(const Value& tree, size_t i) {
  if (!tree.is_sequence())
    throw TypeError("'" + std::string(tree.kind_name()) +
                    "' object is not subscriptable");
  if (i < tree.size()) return tree.as_sequence()[i];
  throw IndexError(std::string(tree.kind_name()) + " index out of range");
}

const Value& dict_part(const Value& tree, const Value& key) {
  if (!tree.is_dict())
    throw TypeError("'" + std::string(tree.kind_name()) +
                    "' object is not subscriptable");
  const ValueDict& items = tree.as_dict();
  const auto found =
      std::find_if(items.begin(), items.end(),
                   [&](const auto& item) { return same(item.first, key); });
  if (found == items.end())
    throw KeyError(key.is_string() ? std::string(key.as_string()) : repr(key));
  return found->second;
}

void flatten_as(const Value& tree, const Value& shape, ValueList& leaves) {
  if (shape.is_dict()) {
    for (const auto& [key, part] : shape.as_dict())
      flatten_as(dict_part(tree, key), part, leaves);
  } else if (shape.is_sequence()) {
    for (size_t i = 0; i < shape.size(); ++i)
      flatten_as(sequence_part(tree, i), shape.as_sequence()[i], leaves);
  } else {
    leaves.push_back(tree);
  }
}

std::string print_star(const Value&, const void*) { return "*"; }

}  // namespace

TreeSpec::TreeSpec(const Value& tree) : num_leaves_(0) {
  shape_ = map_tree(tree, [this](const Value&) {
    ++num_leaves_;
    return Value();
  });
}

TreeSpec TreeSpec::child(size_t i) const {
  if (i >= num_children())
    throw IndexError("[tree spec] child: expected below " +
                     std::to_string(num_children()) + ", got " +
                     std::to_string(i));
  return TreeSpec(shape_.is_dict() ? shape_.as_dict()[i].second
                                   : shape_.as_sequence()[i]);
}

std::string TreeSpec::str() const {
  // Opaque leaves are those that `repr` lets us print.
  static const Value leaf = Value::opaque(new Counted);
  return repr(map_tree(shape_, [](const Value&) { return leaf; }), print_star);
}

std::pair<ValueList, TreeSpec> tree_flatten(const Value& tree) {
  return {tree_leaves(tree), TreeSpec(tree)};
}

ValueList tree_leaves(const Value& tree) {
  ValueList leaves;
  map_tree(tree, [&](const Value& leaf) {
    leaves.push_back(leaf);
    return Value();
  });
  return leaves;
}

Value tree_unflatten(const ValueList& leaves, const TreeSpec& spec) {
  if (leaves.size() != spec.num_leaves())
    throw ValueError("tree_unflatten(leaves, treespec): `leaves` has length " +
                     std::to_string(leaves.size()) +
                     " but the spec refers to a pytree that holds " +
                     std::to_string(spec.num_leaves()) + " items (" +
                     spec.str() + ").");
  size_t next = 0;
  return map_tree(spec.shape(), [&](const Value&) { return leaves[next++]; });
}

Value tree_map(const Value& tree,
               const std::function<Value(const Value&)>& fn) {
  return map_tree(tree, fn);
}

ValueList tree_flatten_spec(const Value& tree, const TreeSpec& spec) {
  ValueList leaves;
  leaves.reserve(spec.num_leaves());
  flatten_as(tree, spec.shape(), leaves);
  return leaves;
}

}  // namespace fxjit::fx
