#include "fxjit/fx/passes/optimization.h"

#include <unordered_map>

#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fx/transformer.h"
#include "fxjit/nn/activation.h"
#include "fxjit/nn/convolution.h"
#include "fxjit/nn/linear.h"
#include "fxjit/nn/normalization.h"
#include "src/fx/graph_module/module_members.h"
#include "src/ops/eager/folded_norm.h"

namespace fxjit::fx::passes {
namespace {

Tensor tensor_or_none(const nn::Parameter& parameter) {
  return parameter.defined() ? parameter.tensor() : Tensor();
}

// Gives `fused` the weights of `layer` followed by `bn`.
template <typename T>
void take_weights(const T& fused, const T& layer,
                  const nn::BatchNormBase& bn) {
  const ops::FoldedNorm norm(bn.running_mean.tensor(), bn.running_var.tensor(),
                             tensor_or_none(bn.weight), tensor_or_none(bn.bias),
                             bn.eps);
  const Tensor& weight = layer.weight.tensor();
  const Tensor scaled = Tensor::empty(weight.sizes(), weight.dtype());
  norm.scale(weight, scaled.data());
  fused.weight.set_tensor(scaled);
  fused.bias.set_tensor(
      norm.bias(tensor_or_none(layer.bias), weight.dtype()));
}

template <typename T>
nn::ModuleRef fused_conv(const T& conv, const nn::BatchNormBase& bn) {
  const auto fused = T::create(
      conv.in_channels, conv.out_channels, conv.kernel_size,
      nn::ConvOptions{conv.stride, conv.padding, conv.dilation, conv.groups});
  take_weights(*fused, conv, bn);
  return fused;
}

nn::ModuleRef fused_linear(const nn::Linear& linear,
                           const nn::BatchNormBase& bn) {
  const auto fused =
      nn::Linear::create(linear.in_features, linear.out_features);
  take_weights(*fused, linear, bn);
  return fused;
}

// As this very class: derived ones may compute something else.
template <typename T>
const T* exactly(const nn::Module& module) {
  return typeid(module) == typeid(T) ? static_cast<const T*>(&module) : nullptr;
}

// Null when the layers do not fit together.
nn::ModuleRef fused(const nn::Module& layer, const nn::Module& norm) {
  const bool flat = exactly<nn::BatchNorm1d>(norm);
  if (!flat && !exactly<nn::BatchNorm2d>(norm)) return {};
  const auto& bn = dynamic_cast<const nn::BatchNormBase&>(norm);
  if (!bn.running_mean.defined()) return {};
  const auto* const conv1d = exactly<nn::Conv1d>(layer);
  const auto* const conv2d = exactly<nn::Conv2d>(layer);
  const auto* const linear = exactly<nn::Linear>(layer);
  const bool fits = flat ? conv1d || linear : conv2d != nullptr;
  if (!fits) return {};
  if (layer.training() || norm.training())
    throw AssertionError("Fusion only for eval!");
  nn::ModuleRef made = conv1d   ? fused_conv(*conv1d, bn)
                       : conv2d ? fused_conv(*conv2d, bn)
                                : fused_linear(*linear, bn);
  made->eval();
  return made;
}

class DropoutRemover : public Transformer {
 public:
  using Transformer::Transformer;
  Value call_module(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    const nn::Module& called = module().get_submodule(target.text());
    if (!dynamic_cast<const nn::Dropout*>(&called))
      return Transformer::call_module(target, args, kwargs);
    if (args.size() != 1)
      throw AssertionError("Expected 1 arg for Dropout, got " +
                           std::to_string(args.size()));
    return args[0];
  }
};

}  // namespace

nn::Ref<GraphModule> fuse(nn::Module& model, bool no_trace) {
  auto* const as_graph = dynamic_cast<GraphModule*>(&model);
  const nn::Ref<GraphModule> traced =
      no_trace && as_graph ? as_graph->copy() : symbolic_trace(model);
  std::unique_ptr<Graph> graph = traced->graph().copy();
  std::unordered_map<const nn::Module*, int> calls;
  const std::vector<NodePtr> nodes = graph->find_nodes(Opcode::call_module);
  for (const Node* node : nodes)
    ++calls[&traced->get_submodule(node->target_name())];
  std::unordered_map<std::string, nn::ModuleRef> replaced;
  for (NodePtr node : nodes) {
    const NodePtr before = node->arg_node(0);
    if (!before || !before->is(Opcode::call_module) || before->num_users() > 1)
      continue;
    const std::string target(before->target_name());
    const nn::Module& layer = traced->get_submodule(target);
    const nn::Module& norm = traced->get_submodule(node->target_name());
    if (calls[&layer] > 1) continue;
    const auto earlier = replaced.find(target);
    nn::ModuleRef made =
        fused(earlier == replaced.end() ? layer : *earlier->second, norm);
    if (!made) continue;
    replaced[target] = std::move(made);
    node->replace_all_uses_with(before);
    graph->erase_node(node);
  }
  const nn::Ref<GraphModule> result =
      GraphModule::create(*traced, std::move(graph));
  for (const Node* node : result->graph().find_nodes(Opcode::call_module)) {
    const auto layer = replaced.find(std::string(node->target_name()));
    if (layer != replaced.end())
      put_member(*result, layer->first, layer->second);
  }
  return result;
}

nn::Ref<GraphModule> remove_dropout(nn::Module& model) {
  return DropoutRemover(symbolic_trace(model)).transform();
}

nn::Ref<GraphModule> extract_subgraph(const nn::Module& module,
                                      const std::vector<NodePtr>& nodes,
                                      const std::vector<NodePtr>& inputs,
                                      const std::vector<NodePtr>& outputs) {
  auto graph = std::make_unique<Graph>();
  std::unordered_map<const Node*, NodePtr> copies;
  for (const Node* input : inputs)
    copies[input] = graph->placeholder(input->name());
  auto mapped = [&](NodePtr node) {
    const auto copy = copies.find(node);
    if (copy == copies.end())
      throw KeyError(std::string(node->name()), node->error_context());
    return copy->second;
  };
  for (const Node* node : nodes) {
    const NodePtr copy = graph->node_copy(*node, mapped);
    copies[node] = copy;
  }
  ValueList results;
  for (NodePtr node : outputs) results.push_back(mapped(node));
  graph->output(Value::list(std::move(results)));
  graph->lint();
  return GraphModule::create(module, std::move(graph));
}

void replace_node_module(GraphModule& module, const Node& node,
                         nn::ModuleRef new_module) {
  if (!node.is(Opcode::call_module))
    throw AssertionError("[replace_node_module %" + std::string(node.name()) +
                             "] node: expected a call_module, got " +
                             std::string(opcode_name(node.op())),
                         node.error_context());
  put_member(module, node.target_name(), std::move(new_module));
}

}  // namespace fxjit::fx::passes
