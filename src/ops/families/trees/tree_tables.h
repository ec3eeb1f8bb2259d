// The tables of an ensemble of trees, which are tensors: what the importer
// packs and what the walk reads.
#pragma once

#include <cstdint>
#include <span>

#include "fxjit/tensor.h"

namespace fxjit::ops {

// How a node compares a feature x with its value v. Its two children stand side
// by side; the first is the one for "true", or for "false" if the node is
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
  // For a leaf, its number among the leaves. For a node with the mode `member`,
  // the index of its first value in the table "members"; a NaN ends the list.
  int32_t entry;
};

template <typename T>
constexpr int64_t kTreeNodeColumns = sizeof(TreeNode<T>) / sizeof(int32_t);

// One byte of the table "kinds" for each node: its mode in the low bits, and
// two flags. The table is read only if one comparison does not decide all nodes
// (TreeCompare::none), or if a feature is NaN.
constexpr uint8_t kTreeModeBits = 7, kTreeNanIsTrue = 8, kTreeSwapped = 16;

// The comparison that decides every inner node of all trees for numbers that
// are not NaN, or none if nodes differ.
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
