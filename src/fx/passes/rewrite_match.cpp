// The edit that Rewrite makes for one match.
#include <algorithm>
#include <string>

#include "src/fx/graph_module/module_members.h"
#include "src/fx/passes/rewrite.h"

namespace fxjit::fx::passes {
namespace {

// Users of more inputs than this are edited once for all matches.
constexpr size_t kMostPostponedInputs = 32;

bool is_matched_call(const Node& node) {
  return !node.is(Opcode::placeholder) && !node.is(Opcode::output);
}

}  // namespace

NodePtr Rewrite::resolve(NodePtr node) const {
  while (node->id() < changed_.size()) {
    const NodePtr next = changed_[node->id()];
    if (!next || next == node) break;
    node = next;
  }
  return node;
}

Value Rewrite::resolve(const Value& value) const {
  return map_leaves(value, [&](const Value& leaf) {
    return leaf.is_node() ? Value(resolve(leaf.as_node())) : leaf;
  });
}

// What wildcards stand for may have been replaced, also inside of lists.
void Rewrite::follow_earlier_edits(InternalMatch& match) {
  const std::vector<NodePtr> wildcards = pattern_.graph().placeholders();
  for (size_t i = 0; i < wildcards.size(); ++i) {
    match.placeholder_nodes[i] = resolve(match.placeholder_nodes[i]);
    match.nodes_map.set(wildcards[i], match.placeholder_nodes[i]);
  }
  for (size_t i = 0; i < match.returning_nodes.size(); ++i)
    if (returns_wildcard_[i])
      match.returning_nodes[i] = resolve(match.returning_nodes[i]);
}

// With several results, an earlier replacement may have closed a cycle through
// this match. One result cannot: all that is matched comes before it.
bool Rewrite::still_valid(const InternalMatch& match) {
  if (match.returning_nodes.size() < 2) return true;
  std::vector<NodePtr> calls;
  for (const auto& [pattern_node, value] : match.nodes_map)
    if (is_matched_call(*pattern_node)) calls.push_back(value.as_node());
  return !cycles_.leaves_and_returns(calls);
}

NodePtr Rewrite::first_user(const InternalMatch& match) const {
  NodePtr first = nullptr;
  for (const Node* node : match.returning_nodes)
    for (NodePtr user : node->users())
      if (!first || order_.before(user, first)) first = user;
  return first;
}

// Null: the end of the graph.
NodePtr Rewrite::insert_point(const InternalMatch& match) {
  NodePtr before = first_user(match);
  if (!before) {
    const Node* last = match.returning_nodes[0];
    for (const Node* node : match.returning_nodes)
      if (order_.before(last, node)) last = node;
    before = last->next()->is(Opcode::root) ? nullptr : last->next();
  }
  // A single call is behind all its inputs.
  const bool simple =
      match.returning_nodes.size() == 1 && !returns_wildcard_[0];
  return simple || !before ? before : hoist_inputs(match, before);
}

// With several results, some user may stand before an input: moves those
// inputs, and what they need, to the front. Returns the insert point that
// follows them.
NodePtr Rewrite::hoist_inputs(const InternalMatch& match, NodePtr before) {
  seen_.clear();
  std::vector<NodePtr> late;
  auto need = [&](NodePtr node) {
    if (!order_.before(node, before) && seen_.insert(node))
      late.push_back(node);
  };
  for (const Value& input : match.placeholder_nodes)
    visit_leaves(input, [&](const Value& leaf) {
      if (leaf.is_node()) need(leaf.as_node());
    });
  for (size_t i = 0; i < late.size(); ++i)
    for (NodePtr input : late[i]->all_input_nodes()) need(input);
  if (late.empty()) return before;
  while (seen_.contains(before)) before = before->next();
  std::sort(late.begin(), late.end(),
            [&](const Node* a, const Node* b) { return order_.before(a, b); });
  for (NodePtr node : late) {
    if (!order_.before(before, node)) continue;  // Stands right already.
    before->prepend(node);
    order_.placed(node, node);
  }
  return before;
}

std::vector<NodePtr> Rewrite::insert(const Subgraph& replacement,
                                     const InternalMatch& match, NodePtr before,
                                     ValueList& results) {
  const InsertScope scope = before ? graph_.inserting_before(before)
                                   : graph_.inserting_after(nullptr);
  std::vector<Value> copies(replacement.graph().id_bound());
  std::vector<NodePtr> added;
  size_t next_input = 0;
  auto mapped = [&](NodePtr node) { return copies[node->id()]; };
  for (const Node* node : replacement.graph().nodes()) {
    if (node->is(Opcode::placeholder)) {
      copies[node->id()] = match.placeholder_nodes[next_input++];
      continue;
    }
    if (node->is(Opcode::output)) {
      const Value result = map_arg(node->arg(0), mapped);
      results = result.is_sequence() ? result.as_sequence() : ValueList{result};
      break;
    }
    const NodePtr copy = graph_.node_copy(*node, mapped);
    copies[node->id()] = copy;
    added.push_back(copy);
    if (const auto name = constant_names_.find(node);
        name != constant_names_.end())
      copy->set_target(name->second);
  }
  if (!added.empty()) order_.placed(added.front(), added.back());
  return added;
}

void Rewrite::rewire(const InternalMatch& match, const ValueList& results,
                     uint32_t first_new_id) {
  changed_.resize(graph_.id_bound());
  for (size_t i = 0; i < results.size(); ++i) {
    const NodePtr old = match.returning_nodes[i];
    const NodePtr now = results[i].as_node();
    if (old == now) continue;
    if (returns_wildcard_[i]) {
      // The new nodes and what they are made of go on using the input itself.
      old->replace_all_uses_with(now, [&](NodePtr user) {
        return user->id() < first_new_id && order_.before(now, user);
      });
    } else {
      old->replace_all_uses_with(now, [&](NodePtr user) {
        if (!postpones_ ||
            user->all_input_nodes().size() <= kMostPostponedInputs)
          return true;
        if (postponed_.insert(user)) postponed_users_.push_back(user);
        return false;
      });
    }
    changed_[old->id()] = now;
  }
}

void Rewrite::erase(const InternalMatch& match) {
  const bool later = postpones_ && match.returning_nodes[0]->num_users() > 0;
  for (const Node* node : pattern_.graph().nodes().reversed()) {
    if (!is_matched_call(*node)) continue;
    const NodePtr matched = match.nodes_map.node(node);
    if (later) {
      postponed_erasures_.push_back(matched);
    } else {
      graph_.erase_node(matched);
    }
  }
}

void Rewrite::finish_postponed() {
  for (NodePtr user : postponed_users_) {
    if (user->erased()) continue;  // Part of a later match.
    auto [args, kwargs] = map_arguments(
        *user, [&](NodePtr node) { return Value(resolve(node)); });
    user->set_args_kwargs(std::move(args), std::move(kwargs));
  }
  for (NodePtr node : postponed_erasures_) graph_.erase_node(node);
}

ReplacedPatterns Rewrite::replace(InternalMatch& match,
                                  const Subgraph& replacement) {
  const uint32_t first_new_id = graph_.id_bound();
  const NodePtr before = insert_point(match);
  ValueList results;
  ReplacedPatterns replaced;
  replaced.replacements = insert(replacement, match, before, results);
  rewire(match, results, first_new_id);
  erase(match);
  replaced.anchor = match.anchors[0];
  replaced.nodes_map = std::move(match.nodes_map);
  replaced.pattern = pattern_.owner();
  return replaced;
}

}  // namespace fxjit::fx::passes
