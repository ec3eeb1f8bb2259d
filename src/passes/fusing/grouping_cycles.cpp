#include "src/passes/fusing/grouping_cycles.h"

namespace fxjit::passes {

void CycleFinder::push_inputs(const fx::Node& of) {
  for (const fx::Node* input : of.all_input_nodes()) stack_.push_back(input);
}

void CycleFinder::push_outside(const fx::Node& of,
                               const std::vector<int32_t>& merged) {
  for (const fx::Node* input : of.all_input_nodes())
    if (!contains(merged, grouping_.group_of[input->id()]))
      stack_.push_back(input);
}

bool CycleFinder::has_later(const Group& group, int32_t position) const {
  return std::any_of(
      group.nodes.begin(), group.nodes.end(),
      [&](const fx::Node* node) { return positions_[node->id()] > position; });
}

bool CycleFinder::closes(const std::vector<int32_t>& merged,
                         const fx::Node& node) {
  ++epoch_;
  stack_.clear();
  int32_t earliest = INT32_MAX;
  for (int32_t index : merged)
    for (const fx::Node* member : grouping_.groups[index].nodes) {
      earliest = std::min(earliest, positions_[member->id()]);
      push_outside(*member, merged);
    }
  push_outside(node, merged);
  while (!stack_.empty()) {
    const fx::Node* at = stack_.back();
    stack_.pop_back();
    if (seen_[at->id()] == epoch_) continue;
    seen_[at->id()] = epoch_;
    const int32_t index = grouping_.group_of[at->id()];
    if (contains(merged, index)) return true;
    if (index < 0) {
      if (positions_[at->id()] > earliest) push_inputs(*at);
      continue;
    }
    const Group& group = grouping_.groups[index];
    if (!has_later(group, earliest)) continue;
    for (const fx::Node* member : group.nodes) {
      seen_[member->id()] = epoch_;
      push_inputs(*member);
    }
  }
  return false;
}

}  // namespace fxjit::passes
