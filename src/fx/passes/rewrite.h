// The steps of replace_pattern. The constructor finds and checks all matches
// before anything is edited; run() then edits match by match.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fxjit/fx/subgraph_rewriter.h"
#include "src/fx/passes/node_order.h"

namespace fxjit::fx::passes {

class Rewrite {
 public:
  // Finds the matches and throws if one cannot be replaced. Edits nothing.
  // `replacement` is null if the options have a callback that makes one for
  // each match.
  Rewrite(GraphModule& gm, const Subgraph& pattern,
          const Subgraph* replacement, const RewriteOptions& options);
  std::vector<ReplacedPatterns> run();

 private:
  void find_matches(const RewriteOptions& options);
  void check_connected() const;
  void check(const InternalMatch& match, const Subgraph& replacement) const;
  void check_attributes(const Subgraph& replacement) const;
  const Subgraph& replacement_of(size_t match) const;

  NodePtr resolve(NodePtr node) const;
  Value resolve(const Value& value) const;
  void follow_earlier_edits(InternalMatch& match);
  bool still_valid(const InternalMatch& match);
  NodePtr first_user(const InternalMatch& match) const;
  NodePtr insert_point(const InternalMatch& match);
  NodePtr hoist_inputs(const InternalMatch& match, NodePtr before);
  ReplacedPatterns replace(InternalMatch& match, const Subgraph& replacement);
  std::vector<NodePtr> insert(const Subgraph& replacement,
                              const InternalMatch& match, NodePtr before,
                              ValueList& results);
  void rewire(const InternalMatch& match, const ValueList& results,
              uint32_t first_new_id);
  void erase(const InternalMatch& match);
  void finish_postponed();
  void take_over_constants(const Subgraph& replacement);
  void take_over_attributes(const Subgraph& replacement);

  GraphModule& gm_;
  Graph& graph_;
  const Subgraph& pattern_;
  const Subgraph* common_;
  std::vector<Subgraph> own_;  // One per match, from the callback.
  std::vector<InternalMatch> matches_;
  std::vector<NodePtr> changed_;  // By id: what took the place of a node.
  // Names that tensors of traced replacement functions have in `gm`, by the
  // node that reads them.
  std::unordered_map<const Node*, std::string> constant_names_;
  std::vector<bool> returns_wildcard_;  // By position in returning_nodes.
  NodeOrder order_;
  CycleSearch cycles_;
  NodeMarks seen_;
  // A node that uses the results of thousands of matches would be edited once
  // for each of them, and each edit would go through all its arguments. Such
  // users are edited once, at the end. The nodes that they use are erased then,
  // too.
  bool postpones_ = false;
  NodeMarks postponed_;
  std::vector<NodePtr> postponed_users_;
  std::vector<NodePtr> postponed_erasures_;
};

}  // namespace fxjit::fx::passes
