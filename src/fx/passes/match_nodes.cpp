// The backward walk of MatchSearch: one anchor against one node.
#include <algorithm>
#include <variant>

#include "fxjit/fx/graph_module.h"
#include "src/fx/passes/match_search.h"

namespace fxjit::fx::passes {
namespace {

bool holds_node(const Value& value) {
  bool found = false;
  visit_leaves(value,
               [&](const Value& leaf) { found = found || leaf.is_node(); });
  return found;
}

nn::Member attribute(const Node& node, const char* role) {
  const GraphModule* const owner = node.graph().owning_module();
  if (!owner)
    throw AssertionError(
        std::string(role) + ".graph.owning_module must not be None",
        node.error_context());
  return owner->find_member(node.target_name());
}

// Parameters match parameters, other tensors match other tensors; their values
// do not matter.
bool attributes_match(const Node& pattern_node, const Node& node) {
  const nn::Member expected = attribute(pattern_node, "pn");
  const nn::Member got = attribute(node, "gn");
  auto is_tensor = [](const nn::Member& member) {
    const Value* const value = std::get_if<Value>(&member);
    return std::holds_alternative<nn::Buffer>(member) ||
           (value && value->is_tensor());
  };
  if (std::holds_alternative<nn::Parameter>(expected))
    return std::holds_alternative<nn::Parameter>(got);
  if (is_tensor(expected)) return is_tensor(got);
  if (expected.index() != got.index()) return false;
  const Value* const value = std::get_if<Value>(&expected);
  throw RuntimeError(
      "Unsupported type " +
          (value ? repr(*value) : std::string(pattern_node.target_name())) +
          " when matching attributes",
      pattern_node.error_context());
}

bool same_keys(const Kwargs& a, const Kwargs& b) {
  constexpr auto key = &Kwargs::value_type::first;
  return std::ranges::equal(a, b, {}, key, key);
}

// torch.ops functions declare their arguments, so that calls which spell them
// differently are equal all the same.
bool declares_arguments(const Node& node) {
  return node.called_op() && node.target_name().starts_with("torch.ops.");
}

}  // namespace

bool MatchSearch::nodes_are_equal(const Node& pattern_node, const Node& node,
                                  bool anchor) const {
  if (!matcher_.options().match_placeholder &&
      pattern_node.is(Opcode::placeholder))
    return true;
  if (anchor && !node_name_match_.empty() &&
      node.name().find(node_name_match_) != std::string_view::npos)
    return true;
  if (pattern_node.op() != node.op()) return false;
  if (pattern_node.is(Opcode::get_attr))
    return attributes_match(pattern_node, node);
  return pattern_node.is(Opcode::placeholder) ||
         pattern_node.is(Opcode::output) ||
         pattern_node.target() == node.target();
}

bool MatchSearch::match_anchor(const Node* pattern_node, NodePtr node) {
  const size_t trail = trail_.size();
  pending_.clear();
  completed_args_.clear();
  bool matched = match_nodes(pattern_node, node, /*anchor=*/true);
  while (matched && !pending_.empty()) {
    const auto [expected, got] = pending_.back();
    pending_.pop_back();
    matched = match_pair(*expected, *got);
  }
  if (!matched) unbind_to(trail);
  return matched;
}

bool MatchSearch::match_pair(const Value& expected, const Value& got) {
  if (expected.is_node() && got.is_node())
    return match_nodes(expected.as_node(), got.as_node(), /*anchor=*/false);
  if (expected.is_sequence() && got.is_sequence())
    return push_all(expected.as_sequence(), got.as_sequence());
  if (match_literal(expected, got)) return true;
  return matcher_.options().ignore_literals && !holds_node(expected);
}

bool MatchSearch::match_literal(const Value& expected, const Value& got) {
  if (expected.is_node())
    return expected.as_node()->is(Opcode::placeholder) &&
           match_wildcard(expected.as_node(), got);
  return expected.kind() == got.kind() && same(expected, got);
}

bool MatchSearch::match_wildcard(const Node* pattern_node, const Value& value) {
  if (is_bound_[pattern_node->id()])
    return same(bound_to_[pattern_node->id()], value);
  bind(pattern_node, value);
  return true;
}

bool MatchSearch::match_nodes(const Node* pattern_node, NodePtr node,
                              bool anchor) {
  if (is_bound_[pattern_node->id()]) {
    const Value& known = bound_to_[pattern_node->id()];
    return known.is_node() && known.as_node() == node;
  }
  if (bound_[node->id()] != Bound::no) return false;
  if (!nodes_are_equal(*pattern_node, *node, anchor)) return false;
  if (pattern_node->is(Opcode::placeholder)) {
    bind(pattern_node, node);
    return true;
  }
  if (matcher_.options().remove_overlapping_matches && taken_.contains(node))
    return false;
  bind(pattern_node, node);
  return push_arguments(*pattern_node, *node);
}

bool MatchSearch::push_arguments(const Node& pattern_node, const Node& node) {
  if (pattern_node.args().size() == node.args().size() &&
      same_keys(pattern_node.kwargs(), node.kwargs())) {
    for (size_t i = node.kwargs().size(); i-- > 0;)
      pending_.emplace_back(&pattern_node.kwargs()[i].second,
                            &node.kwargs()[i].second);
    return push_all(pattern_node.args(), node.args());
  }
  if (!declares_arguments(pattern_node) ||
      node.called_op() != pattern_node.called_op())
    return false;
  auto completed = [&](const Node& call) -> const ValueList& {
    completed_args_.push_back(std::make_unique<ValueList>(
        ops::bind(*call.target().spelling(), call.args(), call.kwargs())));
    return *completed_args_.back();
  };
  const ValueList& expected = completed(pattern_node);
  return push_all(expected, completed(node));
}

// The last is pushed first: arguments are matched from left to right.
bool MatchSearch::push_all(const ValueList& expected, const ValueList& got) {
  if (expected.size() != got.size()) return false;
  for (size_t i = expected.size(); i-- > 0;)
    pending_.emplace_back(&expected[i], &got[i]);
  return true;
}

void MatchSearch::bind(const Node* pattern_node, const Value& value) {
  trail_.push_back(pattern_node);
  bound_to_[pattern_node->id()] = value;
  is_bound_[pattern_node->id()] = true;
  if (value.is_node())
    bound_[value.as_node()->id()] =
        pattern_node->is(Opcode::placeholder) ? Bound::wildcard : Bound::node;
}

void MatchSearch::unbind_to(size_t trail) {
  for (; trail_.size() > trail; trail_.pop_back()) {
    const Node* const node = trail_.back();
    const Value& value = bound_to_[node->id()];
    if (value.is_node()) bound_[value.as_node()->id()] = Bound::no;
    is_bound_[node->id()] = false;
  }
}

}  // namespace fxjit::fx::passes
