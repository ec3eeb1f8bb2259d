#include "src/fx/control_flow/other_branch.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "fxjit/fx/graph_module.h"
#include "fxjit/log.h"
#include "fxjit/nn/module_types.h"
#include "src/fx/control_flow/run.h"
#include "src/fx/graph_module/running_graph.h"
#include "src/fx/graph_module/submodules.h"

namespace fxjit::fx {
namespace {

bool runs_without_effects(const nn::Module& module);

// A layer of the library, with all below it, or a graph module of such calls.
bool is_known(const nn::Module& called) {
  return std::ranges::all_of(called.named_modules(), [](const auto& entry) {
    const nn::Module& module = *entry.second;
    if (dynamic_cast<const GraphModule*>(&module))
      return runs_without_effects(module);
    const nn::ModuleType* const type = nn::find_module_type(module);
    return type && type->transparent;
  });
}

bool runs_without_effects(const GraphModule& module, const Node& node) {
  if (node.is(Opcode::call_method))
    return ops::find_method(node.target_name()) && !node.is_impure();
  if (node.is(Opcode::call_function))
    return (node.target().op() ||
            find_control_flow(node.target().function())) &&
           !node.is_impure();
  if (!refers_to_module(node)) return true;
  const nn::Module* const named = module.find_submodule(node.target_name());
  if (node.is(Opcode::get_attr)) return !named || runs_without_effects(*named);
  return named && !node.is_impure() && is_known(*named);
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

// The sizes and dtypes by which calls are remembered. Of a number only its kind
// counts, because loops may pass another number in each iteration.
ComparedCalls::Signature signature_of(const ValueList& operands,
                                      const Value& made) {
  ComparedCalls::Signature signature;
  const auto add = [&signature](const Value& leaf) {
    signature.push_back(static_cast<int64_t>(leaf.kind()));
    if (!leaf.is_tensor()) return;
    const Tensor& t = leaf.as_tensor();
    signature.push_back(static_cast<int64_t>(t.dtype()));
    signature.push_back(t.dim());
    for (const int64_t size : t.sizes()) signature.push_back(size);
  };
  for (const Value& operand : operands) visit_leaves(operand, add);
  visit_leaves(made, add);
  return signature;
}

// The branch's result for operands without data. None if the branch needs data,
// or if it fails; it then fails when it is taken, which is not the concern of
// this call. The types of errors do not tell the two apart.
std::optional<Value> result_of(GraphModule& branch, const ValueList& operands) {
  if (!runs_without_effects(branch)) return std::nullopt;
  // A loop that counts with constants has data and may run for ever.
  constexpr int64_t kMostIterations = 100;
  const LoopLimits limits{kMostIterations, nullptr};
  const LoopLimitsScope scope(&limits);
  try {
    return branch.forward(without_data(operands));
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    log(LogLevel::info,
        std::string("[cond] the branches were not compared: ") + error.what());
    return std::nullopt;
  }
}

}  // namespace

bool ComparedCalls::contains(const Signature& call) const {
  std::lock_guard lock(mutex_);
  return std::find(calls_.begin(), calls_.end(), call) != calls_.end();
}

void ComparedCalls::add(Signature call) {
  constexpr size_t kMost = 16;
  std::lock_guard lock(mutex_);
  if (calls_.size() < kMost)
    calls_.push_back(std::move(call));
  else
    calls_[next_++ % kMost] = std::move(call);
}

void check_other_branch(const ControlCall& call, size_t taken,
                        const Value& made) {
  auto* const other = dynamic_cast<GraphModule*>(call.bodies[1 - taken].get());
  if (!other) return;
  ComparedCalls& compared = other->running_->compared();
  ComparedCalls::Signature signature = signature_of(call.operands, made);
  if (compared.contains(signature)) return;
  if (const auto result = result_of(*other, call.operands)) {
    if (taken == 0)
      check_branches(made, *result);
    else
      check_branches(*result, made);
  }
  compared.add(std::move(signature));
}

}  // namespace fxjit::fx
