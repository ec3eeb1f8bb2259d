#include "src/fx/passes/rewrite.h"

#include <algorithm>

#include "src/fx/graph_module/module_members.h"

namespace fxjit::fx::passes {
namespace {

// What a replacement returns, one value per result.
ValueList results_of(const Graph& replacement) {
  const Node* const output = replacement.output_node();
  const Value& result = output->arg(0);
  if (result.is_node()) return {result};
  if (result.is_sequence()) return result.as_sequence();
  throw TypeError("object of type '" + std::string(result.kind_name()) +
                      "' has no len()",
                  output->error_context());
}

bool all_filters_pass(const RewriteOptions& options, const InternalMatch& match,
                      const Graph& graph, const Graph& pattern) {
  return std::all_of(
      options.match_filters.begin(), options.match_filters.end(),
      [&](const MatchFilter& filter) { return filter(match, graph, pattern); });
}

const Graph& linted(const Graph& graph) {
  graph.lint();
  return graph;
}

}  // namespace

Rewrite::Rewrite(GraphModule& gm, const Subgraph& pattern,
                 const Subgraph* replacement, const RewriteOptions& options)
    : gm_(gm),
      graph_(gm.graph()),
      pattern_(pattern),
      common_(options.replacement_callback ? nullptr : replacement),
      changed_(gm.graph().id_bound()),
      order_(linted(gm.graph())),
      cycles_(gm.graph(), order_),
      seen_(gm.graph()),
      postponed_(gm.graph()) {
  if (!common_ && !options.replacement_callback)
    throw AssertionError(
        "Must provide either a replacement GraphModule or a replacement "
        "callback");
  find_matches(options);
  if (matches_.empty()) return;
  check_connected();
  if (common_) check_attributes(*common_);
  for (const InternalMatch& match : matches_) {
    if (!common_) {
      own_.push_back(
          options.replacement_callback(match, graph_, pattern_.graph()));
      check_attributes(own_.back());
    }
    check(match, common_ ? *common_ : own_.back());
  }
}

void Rewrite::find_matches(const RewriteOptions& options) {
  const Graph& pattern = pattern_.graph();
  const SubgraphMatcher matcher(pattern,
                                {.ignore_literals = options.ignore_literals});
  matches_ = matcher.match(graph_, options.node_name_match);
  std::erase_if(matches_, [&](const InternalMatch& match) {
    return !all_filters_pass(options, match, graph_, pattern);
  });
  for (const Node* node : pattern.output_node()->all_input_nodes())
    returns_wildcard_.push_back(node->is(Opcode::placeholder));
  // Where there are more results, their users must be known at every step.
  postpones_ = returns_wildcard_.size() == 1 && !returns_wildcard_[0];
}

// Every match binds the same nodes of the pattern.
void Rewrite::check_connected() const {
  for (const Node* node : pattern_.graph().nodes())
    if (!node->is(Opcode::output)) matches_[0].nodes_map.at(node);
}

void Rewrite::check(const InternalMatch& match,
                    const Subgraph& replacement) const {
  const std::vector<NodePtr> inputs = replacement.graph().placeholders();
  if (match.placeholder_nodes.size() != inputs.size())
    throw AssertionError("Placeholder count mismatch: " +
                         std::to_string(match.placeholder_nodes.size()) +
                         " vs " + std::to_string(inputs.size()));
  const ValueList results = results_of(replacement.graph());
  if (match.returning_nodes.size() != results.size())
    throw AssertionError("Returning nodes count mismatch: " +
                         std::to_string(match.returning_nodes.size()) +
                         " vs " + std::to_string(results.size()));
  // Nothing can stand behind the graph's own result.
  for (const Node* node : match.returning_nodes)
    if (node->is(Opcode::output))
      throw AssertionError("The insert point can't be None",
                           node->error_context());
  for (const Value& result : results) {
    // A literal cannot take the place of a node.
    const Value* actual = &result;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (result.is_node() && result.as_node() == inputs[i])
        actual = &match.placeholder_nodes[i];
    if (!actual->is_node())
      throw TypeError(
          "[replace_pattern] result of the replacement: expected a node, got " +
              std::string(actual->kind_name()),
          match.returning_nodes[0]->error_context());
  }
}

void Rewrite::check_attributes(const Subgraph& replacement) const {
  replacement.graph().lint(replacement.module());
  for (const Node* node : replacement.graph().nodes()) {
    if (!refers_to_module(*node)) continue;
    const std::string_view target = node->target_name();
    if (has_member(gm_, target)) continue;
    if (replacement.module() && has_member(*replacement.module(), target))
      continue;
    throw RuntimeError(
        "Attempted to create a \"" + std::string(opcode_name(node->op())) +
            "\" node during subgraph rewriting with target " +
            std::string(target) +
            ", but the referenced attribute does not exist in the replacement "
            "GraphModule",
        node->error_context());
  }
}

const Subgraph& Rewrite::replacement_of(size_t match) const {
  return common_ ? *common_ : own_[match];
}

std::vector<ReplacedPatterns> Rewrite::run() {
  if (common_ && !matches_.empty()) take_over_constants(*common_);
  for (const Subgraph& replacement : own_) take_over_constants(replacement);
  std::vector<ReplacedPatterns> replaced;
  for (size_t i = 0; i < matches_.size(); ++i) {
    follow_earlier_edits(matches_[i]);
    if (i > 0 && !still_valid(matches_[i])) continue;
    replaced.push_back(replace(matches_[i], replacement_of(i)));
  }
  finish_postponed();
  const bool from_module =
      common_ && common_->module() && !common_->is_function();
  if (from_module) gm_.delete_all_unused_submodules();
  if (from_module && !matches_.empty()) take_over_attributes(*common_);
  for (const Subgraph& replacement : own_) take_over_attributes(replacement);
  gm_.recompile();
  return replaced;
}

// A function's tensors have names of its own trace: another tensor of `gm` may
// have the same.
void Rewrite::take_over_constants(const Subgraph& replacement) {
  if (!replacement.is_function()) return;
  std::unordered_map<std::string_view, std::string> names;
  for (const Node* node : replacement.graph().nodes()) {
    if (!refers_to_module(*node)) continue;
    const std::string_view target = node->target_name();
    auto [entry, added] = names.try_emplace(target, target);
    std::string& name = entry->second;
    if (added) {
      for (int i = 0; has_member(gm_, name); ++i)
        name = "_tensor_constant" + std::to_string(i);
      put_member(gm_, name,
                 copy_member(replacement.module()->find_member(target)));
    }
    if (name != target) constant_names_.emplace(node, name);
  }
}

void Rewrite::take_over_attributes(const Subgraph& replacement) {
  if (!replacement.module() || replacement.is_function()) return;
  for (const Node* node : replacement.graph().nodes())
    if (refers_to_module(*node) && !has_member(gm_, node->target_name()))
      put_member(
          gm_, node->target_name(),
          copy_member(replacement.module()->find_member(node->target_name())));
}

}  // namespace fxjit::fx::passes
