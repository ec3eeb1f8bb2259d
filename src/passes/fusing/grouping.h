// Decides which nodes of a lowered graph are computed together; fuse.cpp then
// makes each group a region. Nodes are visited in graph order. A node joins the
// groups of its producers if their loop skeleton can compute it, and if no path
// leads from the group through another group back to the node.
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
  // Operands that the loops read at other places than the one that they
  // compute, as products and gathers do. They must be in memory, so a group
  // never computes one of its own sources.
  std::vector<const fx::Node*> sources;
  bool indexed = false;  // Values depend on their place in the loops.
  bool dead = false;     // Merged into another.
};

// The shape of a value that is constant along the rows of a group: the domain,
// with each dim of the row of size 1.
Dims row_shape(const Group& group);

struct Grouping {
  std::vector<Group> groups;
  std::vector<int32_t> group_of;  // By node id; -1 for nodes without code.
  // Why a node did not join the group of a node that it reads. Key: (id of the
  // node that is read, id of the node that reads it).
  std::map<std::pair<uint32_t, uint32_t>, Apart> refused;

  // Why `reader` is not computed together with `value`, which it reads.
  // Apart::none if they are in one group, or if no step computes `value`.
  Apart apart(const fx::Node& value, const fx::Node& reader) const;
};

struct GroupingOptions {
  bool fuse = true;          // Off: every node is a group of its own.
  bool epilogues = true;     // Off: contractions end at their sum.
  bool strict_sums = false;  // See LowerOptions.
  bool serial = false;       // See PipelineOptions.

  bool inner_rows() const { return fuse && !strict_sums; }
};

// Why a reduction of a tensor of shape `domain` cannot be computed by the loops
// of the group that it reads. It reduces the last `inner` dims or, if
// `inner_at` is not negative, the `inner` dims from `inner_at` on.
Apart why_no_row_reduction(const Group& group, const Dims& domain, int inner,
                           int inner_at = -1);
// The same for a reduction over other dims, computed column by column. Such a
// reduction takes elementwise work into its loops only if nobody else reads
// that work. The loops know the position of a row but not of each element.
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
