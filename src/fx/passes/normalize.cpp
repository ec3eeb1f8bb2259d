#include "fxjit/fx/passes/normalize.h"

#include <string_view>
#include <utility>

#include "fxjit/fx/proxy.h"
#include "src/fx/graph/torch_schemas.h"

namespace fxjit::fx::passes {
namespace {

constexpr std::pair<std::string_view, const char*> kOperators[] = {
    {"torch.add", "operator.add"},
    {"torch.mul", "operator.mul"},
    {"torch.sub", "operator.sub"},
    {"torch.div", "operator.truediv"},
    {"torch.floor_divide", "operator.floordiv"},
    {"torch.remainder", "operator.mod"},
    {"torch.eq", "operator.eq"},
    {"torch.ne", "operator.ne"},
    {"torch.lt", "operator.lt"},
    {"torch.le", "operator.le"},
    {"torch.gt", "operator.gt"},
    {"torch.ge", "operator.ge"}};

}  // namespace

NormalizeArgs::NormalizeArgs(const nn::Ref<GraphModule>& module,
                             bool normalize_to_only_use_kwargs)
    : Transformer(module), only_kwargs_(normalize_to_only_use_kwargs) {}

Value NormalizeArgs::run_node(const Node& node) {
  Value result = Transformer::run_node(node);
  if (result.is_proxy()) node_of(result)->copy_meta_from(node);
  return result;
}

// The arguments of the node being run, on proxies.
std::optional<ArgsKwargs> NormalizeArgs::normalized() const {
  const Node& node = *current_node();
  auto found = node.normalized_arguments(module(), only_kwargs_);
  if (!found) return std::nullopt;
  for (Value& arg : found->args) arg = map_nodes_to_values(arg, node);
  for (auto& [key, arg] : found->kwargs) arg = map_nodes_to_values(arg, node);
  return found;
}

Value NormalizeArgs::call_function(const Target& target, const ValueList& args,
                                   const Kwargs& kwargs) {
  // Where overloads differ in types alone, torch needs those of ShapeProp.
  const bool typed = current_node()->meta().contains("type");
  if (!typed && fitting_schemas(target.text(), args.size(), kwargs).size() > 1)
    return Transformer::call_function(target, args, kwargs);
  const auto found = normalized();
  // Recorded as they are: running the function on proxies would bind them anew.
  if (found)
    return tracer().create_proxy(Opcode::call_function, target, found->args,
                                 found->kwargs);
  return Transformer::call_function(target, args, kwargs);
}

Value NormalizeArgs::call_module(const Target& target, const ValueList& args,
                                 const Kwargs& kwargs) {
  const auto found = normalized();
  return found ? Transformer::call_module(target, found->args, found->kwargs)
               : Transformer::call_module(target, args, kwargs);
}

Value NormalizeOperators::call_function(const Target& target,
                                        const ValueList& args,
                                        const Kwargs& kwargs) {
  if (args.size() == 2 && kwargs.empty())
    for (const auto& [from, to] : kOperators)
      if (target.text() == from)
        return Transformer::call_function(ops::get_function(to), args, kwargs);
  return Transformer::call_function(target, args, kwargs);
}

}  // namespace fxjit::fx::passes
