#include "fxjit/fx/passes/subgraph_matcher.h"

#include <memory>

#include "src/fx/passes/match_search.h"

namespace fxjit::fx::passes {
namespace {

// Maps of more entries than this keep an index.
constexpr size_t kSearched = 16;

std::vector<std::pair<std::string, const Node*>> take_names(Graph& pattern) {
  const ValueList args = pattern.output_node()->args();
  if (args.empty() || !args[0].is_tuple())
    throw ValueError("Expecting the pattern graph to return a tuple");
  ValueList results = args[0].as_sequence();
  if (results.size() < 2)
    throw ValueError(
        "Expecting the pattern graph to have at least two outputs");
  if (!results.back().is_dict())
    throw ValueError(
        "Expecting the input graph to have a dict output as the last element");
  std::vector<std::pair<std::string, const Node*>> names;
  for (const auto& [key, value] : results.back().as_dict())
    names.emplace_back(std::string(key.as_string()), value.as_node());
  results.pop_back();
  pattern.output_node()->set_args({Value::list(std::move(results))});
  return names;
}

}  // namespace

const Value* NodesMap::find(const Node* pattern_node) const {
  if (!index_.empty()) {
    const auto found = index_.find(pattern_node);
    return found == index_.end() ? nullptr : &entries_[found->second].second;
  }
  for (const auto& [node, value] : entries_)
    if (node == pattern_node) return &value;
  return nullptr;
}

const Value& NodesMap::at(const Node* pattern_node) const {
  if (const Value* value = find(pattern_node)) return *value;
  throw KeyError(std::string(pattern_node->name()),
                 pattern_node->error_context());
}

NodePtr NodesMap::node(const Node* pattern_node) const {
  return at(pattern_node).as_node();
}

void NodesMap::set(const Node* pattern_node, Value value) {
  if (const Value* known = find(pattern_node)) {
    const_cast<Value&>(*known) = std::move(value);
    return;
  }
  entries_.emplace_back(pattern_node, std::move(value));
  if (entries_.size() <= kSearched) return;
  for (size_t i = index_.size(); i < entries_.size(); ++i)
    index_.emplace(entries_[i].first, i);
}

SubgraphMatcher::SubgraphMatcher(const Graph& pattern, MatcherOptions options)
    : pattern_(pattern), options_(options) {
  if (pattern.nodes().empty())
    throw ValueError(
        "SubgraphMatcher cannot be initialized with an empty pattern");
  for (const Node* node : pattern.nodes())
    if (!node->is(Opcode::output) && node->num_users() == 0 &&
        !node->is_impure())
      throw AssertionError(
          "SubgraphMatcher cannot be initialized with an pattern with dead "
          "code",
          node->error_context());
  for (const Node* node : pattern.placeholders()) placeholders_.push_back(node);
  const Node* const output = pattern.nodes().back();
  for (const Node* node : output->all_input_nodes()) {
    returning_.push_back(node);
    if (node->num_users() == 1) anchors_.push_back(node);
  }
  if (options.match_output) anchors_ = {output};
}

std::vector<InternalMatch> SubgraphMatcher::match(
    const Graph& graph, std::string_view node_name_match) const {
  return MatchSearch(*this, graph, node_name_match).run();
}

SubgraphMatcherWithNameNodeMap::SubgraphMatcherWithNameNodeMap(
    const Graph& pattern, MatcherOptions options)
    : pattern_(pattern.copy()) {
  pattern_->set_owning_module(pattern.owning_module());
  names_ = take_names(*pattern_);
  matcher_ = std::make_unique<SubgraphMatcher>(*pattern_, options);
}

std::vector<InternalMatch> SubgraphMatcherWithNameNodeMap::match(
    const Graph& graph, std::string_view node_name_match) const {
  std::vector<InternalMatch> matches = matcher_->match(graph, node_name_match);
  for (InternalMatch& match : matches)
    for (const auto& [name, node] : names_)
      match.name_node_map.emplace_back(name, match.nodes_map.node(node));
  return matches;
}

bool compare_graphs(const Graph& left, const Graph& right) {
  const MatcherOptions whole{.match_output = true, .match_placeholder = true};
  return !SubgraphMatcher(left, whole).match(right).empty();
}

}  // namespace fxjit::fx::passes
