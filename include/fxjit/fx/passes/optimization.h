// Rewrites of models for inference (torch.fx.experimental.optimization).
#pragma once

#include <typeinfo>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

// The model with every batch norm computed by the convolution or linear layer
// in front of it, whose weights are changed for that. The model is traced,
// unless it is a graph module and `no_trace` says so, and is not changed; other
// modules are shared with it. Left as they are: layers whose result is used
// elsewhere, layers called more than once, batch norms without running
// statistics, and classes derived from the layers. AssertionError "Fusion only
// for eval!" when a layer to fuse is training.
nn::Ref<GraphModule> fuse(nn::Module& model, bool no_trace = false);
template <typename T>
nn::Ref<GraphModule> fuse(const nn::Ref<T>& model, bool no_trace = false) {
  return fuse(static_cast<nn::Module&>(*model), no_trace);
}

// The model, traced, without its dropout layers.
nn::Ref<GraphModule> remove_dropout(nn::Module& model);
template <typename T>
nn::Ref<GraphModule> remove_dropout(const nn::Ref<T>& model) {
  return remove_dropout(static_cast<nn::Module&>(*model));
}

// Which steps optimize_for_inference takes.
struct InferencePasses {
  bool conv_bn_fuse = true;
  bool remove_dropout = true;
  // In the place of torch's move into MKLDNN's layouts, for which it asks a
  // heuristic: native code for the shapes that come, with the layouts that suit
  // it. See fxjit/compile.h.
  bool compile = true;
};

// The model fused, without dropout, and compiled. The model is not changed.
nn::Ref<GraphModule> optimize_for_inference(nn::Module& model,
                                            const InferencePasses& passes = {});
template <typename T>
nn::Ref<GraphModule> optimize_for_inference(
    const nn::Ref<T>& model, const InferencePasses& passes = {}) {
  return optimize_for_inference(static_cast<nn::Module&>(*model), passes);
}

// A module of these nodes, in this order, of a graph of `module`, from `inputs`
// to the list of `outputs`. KeyError naming a node that the others need and
// that is neither among them nor an input.
nn::Ref<GraphModule> extract_subgraph(const nn::Module& module,
                                      const std::vector<NodePtr>& nodes,
                                      const std::vector<NodePtr>& inputs,
                                      const std::vector<NodePtr>& outputs);

// The module that the node calls is from now on `new_module`, for all nodes
// that call it by this name.
void replace_node_module(GraphModule& module, const Node& node,
                         nn::ModuleRef new_module);

// The layer that a node calls when it is of this very class; null otherwise.
template <typename T>
const T* called_layer(const nn::Module& root, const Node& node) {
  if (!node.is(Opcode::call_module)) return nullptr;
  const nn::Module* const called = root.find_submodule(node.target_name());
  return called && typeid(*called) == typeid(T) ? static_cast<const T*>(called)
                                                : nullptr;
}
// Whether `node` calls a Second on the result of a First:
//   matches_module_pattern<nn::Conv2d, nn::BatchNorm2d>(*gm, *node)
template <typename First, typename Second>
bool matches_module_pattern(const nn::Module& root, const Node& node) {
  const Node* const before = node.arg_node(0);
  return before && called_layer<First>(root, *before) &&
         called_layer<Second>(root, node);
}

}  // namespace fxjit::fx::passes
