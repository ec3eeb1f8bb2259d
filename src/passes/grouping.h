// Which nodes of a lowered graph are computed together. A group is grown in graph
// order: a node joins the groups of its producers when the loop skeleton of the
// group can compute it and no path leaves the group and comes back.
#pragma once

#include <cstdint>
#include <vector>

#include "src/passes/model_graph.h"

namespace fxjit::passes {

struct Group {
  Region::Kind kind = Region::Kind::rows;
  Dims domain;         // Shape that the loops run over.
  int inner_dims = 0;  // rows: trailing dims that form the row, 0 when free.
  Dims post;           // columns: shape after the reduction.
  std::vector<fx::Node*> nodes;  // In graph order once grouping has ended.
  bool dead = false;             // Merged into another.
};

struct Grouping {
  std::vector<Group> groups;
  std::vector<int32_t> group_of;  // By node id; -1 for nodes without code.
};

struct GroupingOptions {
  bool fuse = true;       // Off: every node is a group of its own.
  bool epilogues = true;  // Off: contractions end at their sum.
};

Grouping group_nodes(const ModelGraph& model,
                     const GroupingOptions& options = {});

// Batch dims of a contraction: leading dims that its weight has too.
int contraction_batch_dims(const fx::Node& contract);

// Dims [first, last) step uniformly: element i of the flattened dims is at
// i * stride. Returns the stride, or -1 when they do not. 0 when all are 1.
int64_t uniform_stride(const Dims& sizes, const Dims& strides, int first,
                       int last);

// Strides of `t` seen as a tensor of the shape `domain`, 0 where it broadcasts.
Dims broadcast_strides(const Tensor& t, const Dims& domain);

// Dims that a Lowering::reduce node reduces, in increasing order.
std::vector<int> reduced_dims(const fx::Node& node);
bool keeps_dims(const fx::Node& node);

}  // namespace fxjit::passes
