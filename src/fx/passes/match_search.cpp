#include "src/fx/passes/match_search.h"

#include <algorithm>

namespace fxjit::fx::passes {
namespace {

// Ways to an anchor that are kept; the cheapest is taken where a match begins.
constexpr size_t kMaxDescents = 4;

bool is_call(const Node& pattern_node) {
  return !pattern_node.is(Opcode::placeholder) &&
         !pattern_node.is(Opcode::output);
}

}  // namespace

MatchSearch::MatchSearch(const SubgraphMatcher& matcher, const Graph& graph,
                         std::string_view node_name_match)
    : matcher_(matcher),
      graph_(graph),
      node_name_match_(node_name_match),
      order_(graph),
      cycles_(graph, order_),
      returned_(matcher.pattern().id_bound()),
      descents_(matcher.anchors_.size()),
      bound_to_(matcher.pattern().id_bound()),
      is_bound_(matcher.pattern().id_bound()),
      bound_(graph.id_bound(), Bound::no),
      taken_(graph),
      seen_(graph) {
  for (const Node* node : matcher.returning_) returned_[node->id()] = true;
  plan_descents();
}

std::vector<InternalMatch> MatchSearch::run() {
  if (matcher_.anchors_.empty()) return {};
  for (NodePtr node : all_candidates(0)) search_from(node);
  return std::move(matches_);
}

void MatchSearch::plan_descents() {
  std::vector<bool> shared(matcher_.pattern().id_bound());
  std::vector<const Node*> pending;
  for (size_t i = 0; i < matcher_.anchors_.size(); ++i) {
    if (i > 0) find_descents(i, shared);
    pending.push_back(matcher_.anchors_[i]);
    while (!pending.empty()) {
      const Node* const node = pending.back();
      pending.pop_back();
      if (shared[node->id()]) continue;
      shared[node->id()] = true;
      for (const Node* input : node->all_input_nodes())
        pending.push_back(input);
    }
  }
}

// Breadth first, so that the shortest ways are found.
void MatchSearch::find_descents(size_t anchor,
                                const std::vector<bool>& shared) {
  std::unordered_map<const Node*, const Node*> towards_anchor;
  std::vector<const Node*> queue = {matcher_.anchors_[anchor]};
  towards_anchor[queue[0]] = nullptr;
  for (size_t i = 0; i < queue.size(); ++i) {
    for (const Node* input : queue[i]->all_input_nodes()) {
      if (!shared[input->id()]) {
        if (towards_anchor.emplace(input, queue[i]).second)
          queue.push_back(input);
        continue;
      }
      Descent descent{num_descents_++, input, {}};
      for (const Node* at = queue[i]; at; at = towards_anchor[at])
        descent.steps.push_back(at);
      descents_[anchor].push_back(std::move(descent));
      if (descents_[anchor].size() == kMaxDescents) return;
    }
  }
}

const MatchSearch::Descent* MatchSearch::cheapest_descent(size_t anchor) const {
  const Descent* best = nullptr;
  size_t fewest = 0;
  for (const Descent& descent : descents_[anchor]) {
    const Value& from = bound_to_[descent.from->id()];
    if (!from.is_node()) continue;
    const size_t users = from.as_node()->num_users();
    if (best && users >= fewest) continue;
    best = &descent;
    fewest = users;
  }
  return best;
}

std::vector<NodePtr> MatchSearch::all_candidates(size_t anchor) const {
  std::vector<NodePtr> found;
  for (NodePtr node : graph_.nodes())
    if (nodes_are_equal(*matcher_.anchors_[anchor], *node, /*anchor=*/true))
      found.push_back(node);
  return found;
}

std::vector<NodePtr> MatchSearch::descend(const Descent& descent,
                                          NodePtr from) {
  std::vector<NodePtr> found = {from};
  for (const Node* step : descent.steps) {
    const bool anchor = step == descent.steps.back();
    std::vector<NodePtr> below;
    seen_.clear();
    for (const Node* node : found)
      for (NodePtr user : node->users())
        if (nodes_are_equal(*step, *user, anchor) && seen_.insert(user))
          below.push_back(user);
    found = std::move(below);
  }
  std::ranges::sort(found, {},
                    [&](const Node* node) { return order_.of(node); });
  return found;
}

MatchSearch::Candidates& MatchSearch::candidates(size_t anchor) {
  Candidates* made = nullptr;
  if (const Descent* descent = cheapest_descent(anchor)) {
    const NodePtr from = bound_to_[descent->from->id()].as_node();
    const uint64_t key = (uint64_t{descent->id} << 32) | from->id();
    const auto [entry, added] = below_.try_emplace(key);
    if (added) entry->second.nodes = descend(*descent, from);
    made = &entry->second;
  } else {
    const auto [entry, added] = all_of_anchor_.try_emplace(anchor);
    if (added) entry->second.nodes = all_candidates(anchor);
    made = &entry->second;
  }
  if (matcher_.options().remove_overlapping_matches &&
      is_call(*matcher_.anchors_[anchor]))
    while (made->first < made->nodes.size() &&
           taken_.contains(made->nodes[made->first]))
      ++made->first;
  return *made;
}

// Tries all combinations of candidates, the last anchor's varying fastest.
void MatchSearch::search_from(NodePtr first) {
  std::vector<Level> levels;
  if (!match_anchor(matcher_.anchors_[0], first)) return;
  do {
    const size_t anchor = levels.size() + 1;
    if (anchor < matcher_.anchors_.size()) {
      Candidates& tried = candidates(anchor);
      levels.push_back({&tried, tried.first, trail_.size()});
    } else if (accept() && matcher_.options().remove_overlapping_matches) {
      break;  // Any other match from here would overlap with this one.
    }
  } while (next_candidate(levels));
  unbind_to(0);
}

bool MatchSearch::next_candidate(std::vector<Level>& levels) {
  while (!levels.empty()) {
    Level& level = levels.back();
    unbind_to(level.trail);
    const Node* const anchor = matcher_.anchors_[levels.size()];
    while (level.next < level.candidates->nodes.size())
      if (match_anchor(anchor, level.candidates->nodes[level.next++]))
        return true;
    levels.pop_back();
  }
  return false;
}

bool MatchSearch::accept() {
  if (!is_contained()) return false;
  std::vector<NodePtr> calls;
  for (const Node* node : trail_)
    if (is_call(*node)) calls.push_back(bound_to_[node->id()].as_node());
  if (cycles_.leaves_and_returns(calls)) return false;
  matches_.push_back(result());
  for (const Node* node : calls) taken_.insert(node);
  return true;
}

bool MatchSearch::is_contained() const {
  for (const Node* node : trail_) {
    if (node->is(Opcode::placeholder) || returned_[node->id()]) continue;
    for (const Node* user : bound_to_[node->id()].as_node()->users())
      if (bound_[user->id()] != Bound::node) return false;
  }
  return true;
}

InternalMatch MatchSearch::result() const {
  InternalMatch match;
  match.anchors = matcher_.anchors_;
  for (const Node* node : trail_)
    match.nodes_map.set(node, bound_to_[node->id()]);
  for (const Node* node : matcher_.placeholders_)
    match.placeholder_nodes.push_back(match.nodes_map.at(node));
  for (const Node* node : matcher_.returning_)
    match.returning_nodes.push_back(match.nodes_map.node(node));
  return match;
}

}  // namespace fxjit::fx::passes
