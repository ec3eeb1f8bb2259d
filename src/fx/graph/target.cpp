#include "fxjit/fx/target.h"

#include <memory>
#include <mutex>
#include <unordered_map>

#include "src/fx/tracing/builtins.h"

namespace fxjit::fx {
namespace {

constexpr std::string_view kOpcodeNames[] = {
    "placeholder", "get_attr", "call_function", "call_method",
    "call_module", "output",   "root",
};

// Functions defined by the user; process-wide, as their names are.
class FunctionTable {
 public:
  // Python's own functions are there from the start.
  FunctionTable() {
    visit_python_functions(
        [this](const char* name, FunctionBody run, ops::Purity purity) {
          Function& function = get_or_add(name);
          function.run = std::move(run);
          function.purity = purity;
        });
  }

  static FunctionTable& instance() {
    // Never destroyed: graphs may outlive main.
    static FunctionTable* const table = new FunctionTable;
    return *table;
  }

  Function& get_or_add(const std::string& name) {
    std::lock_guard lock(mutex_);
    std::unique_ptr<Function>& slot = functions_[name];
    if (!slot) {
      slot = std::make_unique<Function>();
      slot->name = name;
    }
    return *slot;
  }
  const Function* find(const std::string& name) {
    std::lock_guard lock(mutex_);
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second.get();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<Function>> functions_;
};

}  // namespace

std::string_view opcode_name(Opcode op) {
  const auto i = static_cast<size_t>(op);
  return i < std::size(kOpcodeNames) ? kOpcodeNames[i] : "unknown";
}

Opcode opcode_from_name(std::string_view name) {
  for (size_t i = 0; i < std::size(kOpcodeNames); ++i)
    if (kOpcodeNames[i] == name) return static_cast<Opcode>(i);
  throw AssertionError("op '" + std::string(name) + "' is not in _legal_ops");
}

const Function& define_function(
    std::string name, std::function<Value(const ValueList&, const Kwargs&)> run,
    ops::Purity purity) {
  Function& function = FunctionTable::instance().get_or_add(name);
  function.run = std::move(run);
  function.purity = purity;
  return function;
}

const Function* find_defined_function(std::string_view name) {
  std::string qualified(name);
  if (name.starts_with("operator.")) qualified.insert(0, "_");
  return FunctionTable::instance().find(qualified);
}

std::string Target::pretty() const {
  constexpr std::string_view kOperators = "_operator.";
  if (callable() && text_.starts_with(kOperators))
    return "operator." + std::string(text_.substr(kOperators.size()));
  return std::string(text_);
}

}  // namespace fxjit::fx
