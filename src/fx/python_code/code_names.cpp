#include "src/fx/python_code/code_names.h"

#include <algorithm>
#include <unordered_set>

#include "src/fx/graph/namespace.h"

namespace fxjit::fx {
namespace {

constexpr std::string_view kBuiltins = "builtins.";

// With the arguments mapped at last: they may name nodes that come later.
std::unique_ptr<Graph> copy_of(const Graph& graph,
                               std::vector<NodePtr>& copies) {
  auto copy = std::make_unique<Graph>();
  copies.resize(graph.id_bound());
  for (const Node* node : graph.nodes())
    copies[node->id()] =
        copy->create_node(node->op(), node->target(), {}, {}, node->name());
  for (const Node* node : graph.nodes()) {
    const NodePtr made = copies[node->id()];
    auto [args, kwargs] = map_arguments(*node, [&](NodePtr input) -> Value {
      return &input->graph() == &graph ? copies[input->id()] : input;
    });
    made->set_args_kwargs(std::move(args), std::move(kwargs));
    made->copy_meta_from(*node);
  }
  if (graph.has_codegen()) copy->set_codegen(graph.shared_codegen());
  copy->on_generate_code([&](BodyTransform) { return graph.body_transform(); })
      .keep();
  return copy;
}

}  // namespace

bool has_fixed_name(std::string_view qualified) {
  return qualified.starts_with("torch.") || qualified.starts_with(kBuiltins);
}

std::string global_hint(std::string_view qualified) {
  const bool fixed = has_fixed_name(qualified);
  if (qualified.starts_with(kBuiltins))
    qualified.remove_prefix(kBuiltins.size());
  std::string hint(qualified);
  if (!fixed) std::replace(hint.begin(), hint.end(), '.', '_');
  return hint;
}

bool names_clash(const Graph& graph, const CodeGlobals& globals) {
  std::unordered_set<std::string_view> taken;
  for (const auto& [name, import] : globals) taken.insert(name);
  for (const Node* node : graph.nodes())
    if (!node->is(Opcode::output) &&  // Not named in code.
        (is_illegal_name(node->name()) || taken.contains(node->name())))
      return true;
  return false;
}

CodeNames rename_for_code(const Graph& graph, const CodeGlobals& reserved) {
  CodeNames names;
  std::vector<NodePtr> copies;
  names.graph = copy_of(graph, copies);
  Namespace code;
  for (const auto& [name, import] : reserved) code.reserve(name);
  for (const Node* node : graph.nodes()) {
    const std::string_view target = node->target_name();
    if (node->is(Opcode::call_function) && !has_fixed_name(target)) {
      std::string& global = names.globals[global_hint(target)];
      if (global.empty()) global = code.create_name(global_hint(target));
    }
    if (node->is(Opcode::output)) continue;
    // "None" is a legal name to torch's graphs and not to its code.
    const bool is_none = node->name() == "None";
    copies[node->id()]->force_name(
        code.create_name(is_none ? "None_1" : node->name()));
  }
  return names;
}

}  // namespace fxjit::fx
