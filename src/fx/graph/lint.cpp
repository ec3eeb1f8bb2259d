// Graph::lint: the invariants of a well-formed graph, with torch's texts.
#include <unordered_set>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {
namespace {

[[noreturn]] void fail(const Node& node, const std::string& message) {
  throw RuntimeError(message, node.error_context());
}

std::string text(std::string_view view) { return std::string(view); }

// torch reports the first part of the path that is missing.
[[noreturn]] void fail_missing(const Node& node, const nn::Module& root) {
  const std::string target = text(node.target_name());
  std::string seen;
  size_t begin = 0;
  while (true) {
    const size_t end = std::min(target.find('.', begin), target.size());
    const std::string atom = target.substr(begin, end - begin);
    const std::string path = target.substr(0, end);
    const nn::Member member = root.find_member(path);
    const auto* const module = std::get_if<nn::ModuleRef>(&member);
    if (std::holds_alternative<std::monostate>(member) || (module && !*module))
      fail(node, "Node " + text(node.name()) + " target " + target +
                     " references nonexistent attribute " + atom + " of " +
                     seen);
    if (node.is(Opcode::call_module) && !module)
      fail(node, "Node " + text(node.name()) + " target " + target + " " +
                     atom + " of " + seen + " does not reference an nn.Module");
    seen = path;
    begin = end + 1;
  }
}

}  // namespace

void Graph::lint_order() const {
  std::vector<bool> defined(id_bound());
  for (const Node* node : nodes()) {
    for (const Node* input : node->all_input_nodes()) {
      if (input->graph_ != this)
        fail(*node,
             "Argument '" + text(input->name_) + "' of Node '" +
                 text(node->name_) +
                 "' does not belong to this Graph, but was used as an "
                 "argument! If you are copying nodes from another graph, make "
                 "sure to use ``arg_transform`` on node_copy() to remap "
                 "values\n" +
                 str());
      if (!defined[input->id_])
        fail(*node, "Argument '" + text(input->name_) + "' of Node '" +
                        text(node->name_) +
                        "' was used before it has been defined! Please check "
                        "that Nodes in the graph are topologically ordered\n" +
                        str());
    }
    defined[node->id_] = true;
  }
}

void Graph::lint_names() const {
  std::unordered_set<std::string_view> names;
  for (const Node* node : nodes())
    if (!names.insert(node->name_).second)
      fail(*node, "Node redefined name " + text(node->name_) + "!");
}

void Graph::lint_targets(const nn::Module& root) const {
  for (const Node* node : nodes()) {
    if (node->op_ == Opcode::call_module) {
      if (!root.find_submodule(node->target_name())) fail_missing(*node, root);
    } else if (node->op_ == Opcode::get_attr) {
      if (std::holds_alternative<std::monostate>(
              root.find_member(node->target_name())))
        fail_missing(*node, root);
    }
  }
}

void Graph::lint(const nn::Module* root) const {
  lint_order();
  if (names_forced_) lint_names();
  if (!root) root = owning_module_;
  if (root) lint_targets(*root);
}

}  // namespace fxjit::fx
