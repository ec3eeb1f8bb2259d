// Node::is_impure and the functions declared to have side effects.
#include "fxjit/fx/purity.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <unordered_set>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/graph_module.h"
#include "src/ops/aten/overload.h"

namespace fxjit::fx {
namespace {

class SideEffects {
 public:
  static SideEffects& instance() {
    // Never destroyed: graphs may outlive main.
    static SideEffects* const table = new SideEffects;
    return *table;
  }

  void add(const void* function) {
    std::lock_guard lock(mutex_);
    functions_.insert(function);
    any_.store(true, std::memory_order_release);
  }
  bool contains(const void* function) {
    if (!any_.load(std::memory_order_acquire)) return false;
    std::lock_guard lock(mutex_);
    return functions_.contains(function);
  }

 private:
  std::atomic<bool> any_{false};  // Spares most processes the lock.
  std::mutex mutex_;
  std::unordered_set<const void*> functions_;
};

const void* identity_of(const Target& function) {
  if (function.function()) return function.function();
  return function.spelling();
}

bool impure(ops::Purity purity, bool impure_random) {
  if (purity == ops::Purity::random) return impure_random;
  return purity != ops::Purity::pure;
}

// Python's methods behind `x[i] = v`, `x.a = v`, `x += v` and the like.
constexpr std::string_view kMagicWrites[] = {
    "__setitem__", "__delitem__",   "__setattr__", "__delattr__", "__iadd__",
    "__isub__",    "__imul__",      "__idiv__",    "__itruediv__",
    "__imod__",    "__ifloordiv__", "__ipow__",    "__ilshift__",
    "__irshift__", "__iand__",      "__ior__",     "__ixor__",
    "__imatmul__",
};

// torch names what writes its tensor with one underscore at the end.
bool named_in_place(std::string_view method) {
  if (method.ends_with("__"))
    return std::ranges::find(kMagicWrites, method) != std::end(kMagicWrites);
  return method.size() > 1 && method.ends_with('_');
}

bool is_true(const Value& value) { return value.is_bool() && value.as_bool(); }

// The argument of this name, given by name or by position; null: its default.
const Value* find_argument(const ops::Spelling& called, const Node& node,
                           std::string_view name) {
  const std::vector<ops::Parameter>& parameters = ops::parameters_of(called);
  auto found = std::ranges::find(parameters, name, &ops::Parameter::name);
  if (found == parameters.end() && name == "training")  // In ATen's dropouts.
    found = std::ranges::find(parameters, "train", &ops::Parameter::name);
  if (found == parameters.end()) return nullptr;
  if (const Value* named = node.find_kwarg(name)) return named;
  const auto index = static_cast<size_t>(found - parameters.begin());
  return index < node.args().size() ? &node.args()[index] : nullptr;
}

// A flag of ops that have one. What is not known before the graph runs counts
// as true.
bool has_flag(const ops::Spelling& called, const Node& node,
              std::string_view name) {
  const Value* const flag = find_argument(called, node, name);
  return flag && (flag->is_node() || is_true(*flag));
}

// Batch norm in training writes its running statistics.
bool writes_statistics(const ops::Spelling& called, const Node& node) {
  const Value* const mean = find_argument(called, node, "running_mean");
  return mean && !mean->is_none() && has_flag(called, node, "training");
}

// A graph module is as impure as its nodes, but for numbers drawn.
bool module_is_impure(const nn::Module& module) {
  const auto* const nested = dynamic_cast<const GraphModule*>(&module);
  if (!nested || module.is_impure()) return module.is_impure();
  for (const Node* node : nested->graph().nodes()) {
    const bool calls = node->is(Opcode::call_function) ||
                       node->is(Opcode::call_method) ||
                       node->is(Opcode::call_module);
    if (calls && node->is_impure(/*impure_random=*/false)) return true;
  }
  return false;
}

// A random op draws unless its argument "training" is False; left out it is
// True.
bool draws(const ops::Spelling& called, const Node& node) {
  const bool given = find_argument(called, node, "training") != nullptr;
  return !given || has_flag(called, node, "training");
}

bool op_is_impure(const ops::Spelling& called, const Node& node,
                  bool impure_random) {
  return impure(called.op->row.purity, impure_random && draws(called, node)) ||
         (called.overload && ops::asks_for_write(*called.overload)) ||
         has_flag(called, node, "inplace") || writes_statistics(called, node);
}

}  // namespace

Target has_side_effect(const Target& function) {
  if (!function.callable())
    throw ValueError("[has_side_effect] function: expected a callable, got \"" +
                     std::string(function.text()) + "\"");
  SideEffects::instance().add(identity_of(function));
  return function;
}

Target has_side_effect(std::string_view function) {
  if (const ops::Spelling* spelling = ops::find_function(function))
    return has_side_effect(Target(*spelling));
  if (const Function* defined = find_defined_function(function))
    return has_side_effect(Target(*defined));
  throw KeyError(
      "[has_side_effect] function: expected a name of the op table, got " +
      std::string(function));
}

bool is_side_effectful(const Target& function) {
  return function.callable() &&
         SideEffects::instance().contains(identity_of(function));
}

bool Node::is_impure(bool impure_random) const {
  switch (op_) {
    case Opcode::placeholder:
    case Opcode::output:
    case Opcode::root:
      return true;
    case Opcode::get_attr:
      return false;
    case Opcode::call_module: {
      const GraphModule* const owner = graph_->owning_module();
      if (!owner)
        throw AssertionError(
            "self.graph.owning_module not set for purity check",
            error_context());
      return module_is_impure(owner->get_submodule(target_name()));
    }
    case Opcode::call_method: {
      const ops::Spelling* const method = ops::find_method(target_name());
      if (method) return op_is_impure(*method, *this, impure_random);
      return named_in_place(target_name());
    }
    case Opcode::call_function: {
      const Value* const out = find_kwarg("out");
      if (out && !out->is_none()) return true;
      if (is_side_effectful(target_)) return true;
      if (target_.function())
        return impure(target_.function()->purity, impure_random);
      return op_is_impure(*target_.spelling(), *this, impure_random);
    }
  }
  return true;
}

}  // namespace fxjit::fx
