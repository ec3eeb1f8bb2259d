// Walks rows through trees. Several rows in one tree, or one row in several
// trees, walk side by side, because each step waits for memory and the steps of
// other walks fill that time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "src/ops/families/trees/tree_tables.h"

namespace fxjit::ops {

constexpr int64_t kTreeLanes = 8;

using TreeLanes = std::array<int32_t, kTreeLanes>;

// Walks all lanes by one comparison, step by step, until no lane moves.
// at[lane] is the lane's first node on entry and its leaf on return;
// numbers(lane) is the row of features.
template <bool kLess, typename T, typename Numbers>
void walk_lanes(const TreeNode<T>* nodes, const Numbers& numbers,
                TreeLanes& at) {
  int32_t moved = 0;
  do {
    moved = 0;
    for (size_t lane = 0; lane < at.size(); ++lane) {
      const TreeNode<T>& node = nodes[at[lane]];
      const T x = numbers(lane)[node.feature];
      const bool first = kLess ? x < node.value : x <= node.value;
      const int32_t next = node.child + static_cast<int32_t>(!first);
      moved |= next ^ at[lane];
      at[lane] = next;
    }
  } while (moved != 0);
}

template <typename T>
bool is_member(const double* members, T x) {
  for (; !std::isnan(*members); ++members)
    if (static_cast<T>(*members) == x) return true;
  return false;
}

// Walks one row by the mode of each node. A NaN takes the way that the node has
// for it. Returns the leaf.
template <typename T>
int32_t walk_by_modes(const TreeTables<T>& tables, const T* numbers,
                      int32_t at) {
  for (;;) {
    const TreeNode<T>& node = tables.nodes[at];
    const uint8_t kind = tables.kinds[at];
    const auto mode = static_cast<TreeMode>(kind & kTreeModeBits);
    if (mode == TreeMode::leaf) return at;
    const T x = numbers[node.feature], v = node.value;
    const bool is_true =
        ((kind & kTreeNanIsTrue) != 0 && std::isnan(x)) ||
        (mode == TreeMode::leq   ? x <= v
         : mode == TreeMode::lt  ? x < v
         : mode == TreeMode::gte ? x >= v
         : mode == TreeMode::gt  ? x > v
         : mode == TreeMode::eq  ? x == v
         : mode == TreeMode::neq ? x != v
                                 : is_member(tables.members + node.entry, x));
    const bool swapped = (kind & kTreeSwapped) != 0;
    at = node.child + static_cast<int32_t>(is_true == swapped);
  }
}

// The sums of some rows, [rows, targets], while leaves are added.
struct TreeSums {
  double* numbers;
  uint8_t* given;  // Of `smallest` and `largest`: which have a number already.
};

template <typename T>
void add_leaf(const TreeTables<T>& tables, int32_t at, int64_t row,
              const TreeSums& sums) {
  const int32_t leaf = tables.nodes[at].entry;
  if (tables.is_plain()) {
    sums.numbers[row] += tables.weights[leaf];
    return;
  }
  const bool chooses = tables.chooses();
  const int32_t begin = tables.starts ? tables.starts[leaf] : leaf;
  const int32_t end = tables.starts ? tables.starts[leaf + 1] : leaf + 1;
  for (int32_t i = begin; i < end; ++i) {
    const int64_t place = row * tables.count + tables.targets[i];
    double& sum = sums.numbers[place];
    if (!chooses)
      sum += tables.weights[i];
    else if (sums.given[place] == 0)
      sum = tables.weights[i];
    else
      sum = tables.aggregate == TreeAggregate::smallest
                ? std::min(sum, tables.weights[i])
                : std::max(sum, tables.weights[i]);
    if (chooses) sums.given[place] = 1;
  }
}

}  // namespace fxjit::ops
