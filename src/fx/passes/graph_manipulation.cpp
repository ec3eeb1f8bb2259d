#include "fxjit/fx/passes/graph_manipulation.h"

#include <string>
#include <string_view>

namespace fxjit::fx::passes {
namespace {

// The parts of "int, Tuple[int, str]", which commas outside of brackets part.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.push_back(std::move(part));
      part.clear();
    } else if (c != ' ' || !part.empty()) {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

// What stands between the brackets of "typing.<name>[...]" or "<name>[...]".
std::optional<std::string_view> arguments_of(std::string_view type,
                                             std::string_view name) {
  if (type.starts_with("typing.")) type.remove_prefix(7);
  if (!type.ends_with(']') || type.size() <= name.size() + 1 ||
      type[name.size()] != '[')
    return std::nullopt;
  const char first = type[0] >= 'A' && type[0] <= 'Z'
                         ? static_cast<char>(type[0] - 'A' + 'a')
                         : type[0];
  if (first != name[0] || type.substr(1, name.size() - 1) != name.substr(1))
    return std::nullopt;
  return type.substr(name.size() + 1, type.size() - name.size() - 2);
}

void annotate(Node& node, std::string_view type, int64_t index) {
  if (const auto items = arguments_of(type, "list")) {
    node.set_type(Value(std::string(*items)));
    return;
  }
  const auto items = arguments_of(type, "tuple");
  if (!items) return;
  const std::vector<std::string> parts = parts_of(*items);
  if (parts.size() == 2 && parts[1] == "...") {
    node.set_type(Value(parts[0]));
    return;
  }
  const auto count = static_cast<int64_t>(parts.size());
  const int64_t at = index < 0 ? index + count : index;
  if (at < 0 || at >= count)
    throw AssertionError("Index " + std::to_string(index) +
                             " out of range for parameterized_types (len=" +
                         std::to_string(count) + ")",
                     node.error_context());
  node.set_type(Value(parts[static_cast<size_t>(at)]));
}

}  // namespace

void replace_target_nodes_with(GraphModule& module, Opcode old_op,
                               const Target& old_target, Opcode new_op,
                               const Target& new_target) {
  const Graph& graph = module.graph();
  auto changed = std::make_unique<Graph>();
  std::vector<NodePtr> copies(graph.id_bound());
  auto mapped = [&](NodePtr input) { return copies[input->id()]; };
  for (const Node* node : graph.nodes()) {
    if (!node->is(old_op) || !(node->target() == old_target)) {
      copies[node->id()] = changed->node_copy(*node, mapped);
      continue;
    }
    auto [args, kwargs] = map_arguments(*node, mapped);
    copies[node->id()] = changed->create_node(
        new_op, new_target, std::move(args), std::move(kwargs), node->name());
  }
  changed->set_codegen(graph.shared_codegen());
  module.set_graph(std::move(changed));
}

const TensorMetadata& get_tensor_meta(const Node& node) {
  if (const TensorMetadata* facts = tensor_meta(node)) return *facts;
  throw RuntimeError("Node " + std::string(node.name()) +
                         " has no tensor metadata associated with it! Check "
                         "that shape propagation has run.",
                     node.error_context());
}

SizeBytes get_size_of_node(const GraphModule& module, const Node& node) {
  int64_t parameters = 0;
  if (node.is(Opcode::call_module))
    for (const auto& [name, parameter] :
         module.get_submodule(node.target_name()).named_parameters())
      if (parameter.defined()) parameters += parameter.tensor().numel();
  const TensorMetadata& facts = get_tensor_meta(node);
  const int64_t count = numel(facts.shape);
  const auto item = static_cast<int64_t>(dtype_size(facts.dtype));
  return {item * count, item * (count + parameters)};
}

std::vector<std::pair<NodePtr, SizeBytes>> get_size_of_all_nodes(
    GraphModule& module, const std::optional<ValueList>& args) {
  if (args) ShapeProp(module).propagate(*args);
  std::vector<std::pair<NodePtr, SizeBytes>> sizes;
  for (NodePtr node : module.graph().nodes()) {
    if (node->is(Opcode::output)) break;
    sizes.emplace_back(node, get_size_of_node(module, *node));
  }
  return sizes;
}

void annotate_getitem_nodes(Graph& graph) {
  for (NodePtr node : graph.nodes()) {
    if (!node->is(Opcode::call_function) ||
        node->target_name() != "_operator.getitem" || node->args().size() != 2)
      continue;
    const Node* const whole = node->arg_node(0);
    if (!whole || !whole->type().is_string() || !node->arg(1).is_int())
      continue;
    annotate(*node, whole->type().as_string(), node->arg(1).as_int());
  }
}

}  // namespace fxjit::fx::passes
