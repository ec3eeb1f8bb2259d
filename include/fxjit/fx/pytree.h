// Nested values taken apart and put together, as torch.utils._pytree does:
// lists, tuples and dicts (in the order of their keys' insertion) are nodes of
// the tree, everything else is a leaf. Free of state; thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "fxjit/value.h"

namespace fxjit::fx {

// The containers of a value without its leaves.
class TreeSpec {
 public:
  TreeSpec() = default;  // A single leaf.
  explicit TreeSpec(const Value& tree);

  bool is_leaf() const { return !is_node(shape_); }
  size_t num_leaves() const { return num_leaves_; }
  size_t num_children() const { return is_leaf() ? 0 : shape_.size(); }
  TreeSpec child(size_t i) const;
  // The tree with None for every leaf.
  const Value& shape() const { return shape_; }
  // "(*, {'a': *})".
  std::string str() const;

  static bool is_node(const Value& value) {
    return value.is_sequence() || value.is_dict();
  }
  friend bool operator==(const TreeSpec& a, const TreeSpec& b) {
    return same(a.shape_, b.shape_);
  }

 private:
  Value shape_;
  size_t num_leaves_ = 1;
};

std::pair<ValueList, TreeSpec> tree_flatten(const Value& tree);
ValueList tree_leaves(const Value& tree);
// ValueError unless there is one leaf for every place.
Value tree_unflatten(const ValueList& leaves, const TreeSpec& spec);
Value tree_map(const Value& tree, const std::function<Value(const Value&)>& fn);
// The parts of `tree` that stand where `spec` has leaves; they may be
// containers. IndexError or KeyError, with Python's texts, where `tree` lacks a
// part, TypeError where it is no container of that kind. Parts that `spec` does
// not have are ignored.
ValueList tree_flatten_spec(const Value& tree, const TreeSpec& spec);

}  // namespace fxjit::fx
