// Which nodes of a lowered graph are computed together. A group is grown in
// graph order: a node joins the groups of its producers when the loop skeleton
// of the group can compute it and no path leaves the group and comes back.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/passes/fusing/apart.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

struct Group {
  Region::Kind kind = Region::Kind::rows;
  Dims domain;         // Shape that the loops run over.
  int inner_dims = 0;  // rows: dims that form the row, 0 when free.
  int inner_at = -1;   // The first of them where they are not the last dims.
  Dims post;           // columns: shape after the reduction.
  std::vector<fx::NodePtr> nodes;  // In graph order once grouping has ended.
  // Operands of contractions and gathers, read elsewhere than at the place of
  // the loops: never computed by the group itself.
  std::vector<const fx::Node*> sources;
  bool indexed = false;  // Values depend on their place in the loops.
  bool dead = false;     // Merged into another.
};

// The shape of what is constant along a group's rows.
Dims row_shape(const Group& group);

struct Grouping {
  std::vector<Group> groups;
  std::vector<int32_t> group_of;  // By node id; -1 for nodes without code.
  // Why a node did not join the group of one that it reads, by the ids of the
  // two: the one read, the one that reads.
  std::map<std::pair<uint32_t, uint32_t>, Apart> refused;

  // The same for any two nodes of which `reader` reads `value`; `none` where
  // they are together or no step computes `value`.
  Apart apart(const fx::Node& value, const fx::Node& reader) const;
};

struct GroupingOptions {
  bool fuse = true;          // Off: every node is a group of its own.
  bool epilogues = true;     // Off: contractions end at their sum.
  bool strict_sums = false;  // See LowerOptions.
  bool serial = false;       // See PipelineOptions.

  bool inner_rows() const { return fuse && !strict_sums; }
};

// Why a reduction over the last `inner` dims of `domain`, or over those from
// `inner_at` on, does not fit the loops of the group it reads.
Apart why_no_row_reduction(const Group& group, const Dims& domain, int inner,
                           int inner_at = -1);
// The same for other dims: such a reduction takes elementwise work that nobody
// else reads. Its loops take an index for all columns of a row, not one for
// each element.
Apart why_no_column_reduction(const Grouping& grouping, int32_t index,
                              const fx::Node& reduction, const Dims& domain);

// Whether what reads `node`, numbers that are wider than those of group
// `index`, a contraction, can stand behind a later contraction, which then
// reads them narrow.
bool is_read_later(const Grouping& grouping, const fx::Node& node,
                   int32_t index);

Grouping group_nodes(const ModelGraph& model,
                     const GroupingOptions& options = {});

}  // namespace fxjit::passes
