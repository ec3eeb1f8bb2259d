#include "src/fx/passes/replace_uses.h"

#include <unordered_map>
#include <unordered_set>

namespace fxjit::fx::passes {
namespace {

// Users of more inputs than this are edited once.
constexpr size_t kManyInputs = 32;

}  // namespace

void replace_uses(const std::vector<std::pair<NodePtr, NodePtr>>& replaced,
                  bool propagate_meta) {
  std::vector<NodePtr> wide;
  std::unordered_set<const Node*> seen;
  for (const auto& [old_node, new_node] : replaced)
    old_node->replace_all_uses_with(
        new_node,
        [&](NodePtr user) {
          if (user->all_input_nodes().size() <= kManyInputs) return true;
          if (seen.insert(user).second) wide.push_back(user);
          return false;
        },
        propagate_meta);
  if (wide.empty()) return;
  const std::unordered_map<NodePtr, NodePtr> to(replaced.begin(),
                                                replaced.end());
  auto mapped = [&](NodePtr node) {
    const auto found = to.find(node);
    return Value(found == to.end() ? node : found->second);
  };
  for (NodePtr user : wide) {
    auto [args, kwargs] = map_arguments(*user, mapped);
    user->set_args_kwargs(std::move(args), std::move(kwargs));
  }
}

}  // namespace fxjit::fx::passes
