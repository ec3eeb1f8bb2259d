// Which nodes of a lowered graph are computed together. A group is grown in graph
// order: a node joins the groups of its producers when the loop skeleton of the
// group can compute it and no path leaves the group and comes back.
#pragma once

#include <cstdint>
#include <vector>

#include "src/passes/loop_facts.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

struct Group {
  Region::Kind kind = Region::Kind::rows;
  Dims domain;         // Shape that the loops run over.
  int inner_dims = 0;  // rows: trailing dims that form the row, 0 when free.
  Dims post;           // columns: shape after the reduction.
  std::vector<fx::NodePtr> nodes;  // In graph order once grouping has ended.
  // Operands of contractions and gathers, read elsewhere than at the place of
  // the loops: never computed by the group itself.
  std::vector<const fx::Node*> sources;
  bool indexed = false;          // Values depend on their place in the loops.
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

}  // namespace fxjit::passes
