#include "src/fx/control_flow/other_branch.h"

#include <algorithm>
#include <optional>

#include "fxjit/fx/graph_module.h"
#include "fxjit/nn/module_types.h"
#include "src/fx/control_flow/run.h"

namespace fxjit::fx {
namespace {

bool runs_without_effects(const nn::Module& module);

// A layer of the library, with all below it, or a graph module of such calls.
bool is_known(const nn::Module& called) {
  const auto modules = called.named_modules();
  return std::all_of(modules.begin(), modules.end(), [](const auto& entry) {
    const nn::Module& module = *entry.second;
    if (dynamic_cast<const GraphModule*>(&module))
      return runs_without_effects(module);
    const nn::ModuleType* const type = nn::find_module_type(module);
    return type && type->transparent;
  });
}

bool runs_without_effects(const GraphModule& module, const Node& node) {
  switch (node.op()) {
    case Opcode::placeholder:
    case Opcode::output:
    case Opcode::root:
      return true;
    case Opcode::get_attr: {
      const nn::Module* const body = module.find_submodule(node.target_name());
      return !body || runs_without_effects(*body);
    }
    case Opcode::call_module: {
      const nn::Module* const called =
          module.find_submodule(node.target_name());
      return called && !node.is_impure() && is_known(*called);
    }
    case Opcode::call_method:
      return ops::find_method(node.target_name()) && !node.is_impure();
    case Opcode::call_function:
      return (node.target().op() ||
              find_control_flow(node.target().function())) &&
             !node.is_impure();
  }
  return false;
}

bool runs_without_effects(const nn::Module& module) {
  const auto* const graph = dynamic_cast<const GraphModule*>(&module);
  if (!graph) return false;
  for (const Node* node : graph->graph().nodes())
    if (!runs_without_effects(*graph, *node)) return false;
  return true;
}

ValueList without_data(const ValueList& operands) {
  ValueList metas;
  for (const Value& operand : operands)
    metas.push_back(map_leaves(operand, [](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const Tensor& t = leaf.as_tensor();
      return Tensor::meta(t.sizes(), t.dtype(), t.strides());
    }));
  return metas;
}

// Nothing where it needs data, or fails as it will when it is taken.
std::optional<Value> result_of(const nn::ModuleRef& branch,
                               const ValueList& operands) {
  if (!runs_without_effects(*branch)) return std::nullopt;
  try {
    return branch->forward(without_data(operands));
  } catch (const InternalError&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

void check_other_branch(const ControlCall& call, size_t taken,
                        const Value& made) {
  const auto other = result_of(call.bodies[1 - taken], call.operands);
  if (!other) return;
  if (taken == 0)
    check_branches(made, *other);
  else
    check_branches(*other, made);
}

}  // namespace fxjit::fx
