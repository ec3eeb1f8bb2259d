// The tables of an ensemble of trees, which are tensors: what the importer
// packs and what the walk reads.
#pragma once

#include <cstdint>
#include <span>

#include "fxjit/tensor.h"

namespace fxjit::ops {

// How a node compares a feature x with its value v. The children of a node
// stand beside one another, the one for "true" first unless the node is
// swapped.
enum class TreeMode : uint8_t { leq, lt, gte, gt, eq, neq, member, leaf };

// A node as it lies in the table "nodes", an int32 tensor of a row for each. T
// is the type in which features are compared, float or double.
//
// The node behind an inner one is child + !(x[feature] <= value), or < where
// all trees are made of that comparison (TreeCompare). A leaf has a NaN for its
// value, which no number is below, and `child` is the place before its own: it
// leads to itself.
template <typename T>
struct TreeNode {
  T value;
  int32_t feature;
  int32_t child;
  // Of a leaf its number among the leaves, of a node with the mode `member` the
  // first of its values in the table "members", which end with a NaN.
  int32_t entry;
};

template <typename T>
constexpr int64_t kTreeNodeColumns = sizeof(TreeNode<T>) / sizeof(int32_t);

// The table "kinds", a byte for each node, is read only where a comparison
// alone does not tell the way: the mode, and these bits.
constexpr uint8_t kTreeModeBits = 7, kTreeNanIsTrue = 8, kTreeSwapped = 16;

// Which one comparison leads rows without NaN through all trees.
enum class TreeCompare : int64_t { leq, lt, none };

enum class TreeAggregate : int64_t { sum, average, smallest, largest };

// The tables of a call, as the walk sees them.
template <typename T>
struct TreeTables {
  const TreeNode<T>* nodes;
  const uint8_t* kinds;
  const double* members;
  std::span<const int32_t> roots;  // One for each tree.
  // The weights of leaf i stand from starts[i] to starts[i + 1]. Null where
  // each leaf has one, weights[i].
  const int32_t* starts;
  const int32_t* targets;
  const double* weights;
  TreeCompare compare;
  TreeAggregate aggregate;
  int64_t count;  // Of targets.

  bool chooses() const {
    return aggregate == TreeAggregate::smallest ||
           aggregate == TreeAggregate::largest;
  }
  // A leaf adds one number to the one sum of a row.
  bool is_plain() const { return !starts && count == 1 && !chooses(); }
};

}  // namespace fxjit::ops
