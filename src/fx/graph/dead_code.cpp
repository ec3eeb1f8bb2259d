// Graph::eliminate_dead_code.
#include <string_view>
#include <unordered_set>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/graph_module.h"

namespace fxjit::fx {

bool Graph::eliminate_dead_code(
    const std::function<bool(const Node&)>& is_impure) {
  lint();
  bool changed = false;
  // Backwards: removing a node may leave its inputs without users.
  for (NodePtr node : nodes().reversed()) {
    if (node->num_users_ > 0) continue;
    if (is_impure ? is_impure(*node) : node->is_impure()) continue;
    erase_node(node);
    changed = true;
  }
  return eliminate_in_submodules() || changed;
}

// Graph modules that the graph hands around as attributes.
bool Graph::eliminate_in_submodules() {
  if (!owning_module_) return false;
  std::unordered_set<std::string_view> targets;
  for (const Node* node : nodes())
    if (node->op_ == Opcode::get_attr) targets.insert(node->target_name());
  if (targets.empty()) return false;
  bool changed = false;
  for (const auto& [name, child] : owning_module_->children()) {
    auto* const module = dynamic_cast<GraphModule*>(child.get());
    if (!module || !targets.contains(name)) continue;
    if (module->graph().eliminate_dead_code()) changed = true;
    module->recompile();
  }
  return changed;
}

}  // namespace fxjit::fx
