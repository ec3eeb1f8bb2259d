#include "src/fx/graph/written_values.h"

#include <unordered_set>

#include "src/fx/graph/node_aliasing.h"

namespace fxjit::fx {
namespace {

bool may_write(const Node& node, const GraphModule& module) {
  if (node.is(Opcode::call_function) || node.is(Opcode::call_method))
    return node.is_impure(false);
  if (!node.is(Opcode::call_module)) return false;
  const nn::Module* called = module.find_submodule(node.target_name());
  return !called || !called->is_leaf() || node.is_impure(false) ||
         called->extra_repr().find("inplace=True") != std::string::npos;
}

const void* memory_of(const GraphModule& module, const Node& attribute) {
  const nn::Member member = module.find_member(attribute.target_name());
  Tensor tensor;
  if (const auto* parameter = std::get_if<nn::Parameter>(&member))
    tensor = parameter->defined() ? parameter->tensor() : Tensor();
  else if (const auto* buffer = std::get_if<nn::Buffer>(&member))
    tensor = buffer->defined() ? buffer->tensor() : Tensor();
  else if (const auto* value = std::get_if<Value>(&member))
    tensor = value->is_tensor() ? value->as_tensor() : Tensor();
  return tensor.defined() && !tensor.is_meta() ? tensor.storage().get()
                                               : nullptr;
}

}  // namespace

std::vector<bool> written_values(const GraphModule& module) {
  const Graph& graph = module.graph();
  std::vector<bool> written(graph.id_bound());
  std::unordered_set<const void*> memories;
  for (const Node* node : graph.nodes().reversed()) {
    if (written[node->id()] && node->is(Opcode::get_attr))
      memories.insert(memory_of(module, *node));
    const bool gives_on = written[node->id()] && may_alias(*node);
    if (!gives_on && !may_write(*node, module)) continue;
    for (const Node* input : node->all_input_nodes())
      written[input->id()] = true;
  }
  if (memories.empty()) return written;
  for (const Node* node : graph.nodes())
    if (node->is(Opcode::get_attr) &&
        memories.contains(memory_of(module, *node)))
      written[node->id()] = true;
  return written;
}

}  // namespace fxjit::fx
