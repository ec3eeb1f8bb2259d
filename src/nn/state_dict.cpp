// Reading and replacing the tensors of a module tree by qualified name.
#include <unordered_map>
#include <unordered_set>

#include "fxjit/nn/module.h"

namespace fxjit::nn {
namespace {

struct Slot {
  std::string name;
  Parameter handle;
};

// Every persistent tensor under every one of its names, as torch's state_dict:
// a module's parameters, its buffers, then its submodules.
void collect(const Module& module, const std::string& prefix,
             std::vector<Slot>* slots) {
  for (const auto& [name, parameter] : module.own_parameters())
    if (parameter.defined()) slots->push_back({prefix + name, parameter});
  for (const auto& [name, buffer] : module.own_buffers())
    if (buffer.defined() && buffer.slot()->persistent)
      slots->push_back({prefix + name, buffer});
  for (const auto& [name, child] : module.children())
    if (child) collect(*child, prefix + name + ".", slots);
}

std::string quoted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "\"" : ", \"") + name + "\"";
  return text;
}

std::string size_mismatch(const std::string& name, const Tensor& expected,
                          const Tensor& got) {
  return "\n\tsize mismatch for " + name + ": expected " +
         expected.sizes().str() + ", got " + got.sizes().str() + ".";
}

}  // namespace

StateDict Module::state_dict() const {
  check_nesting();
  std::vector<Slot> slots;
  collect(*this, "", &slots);
  StateDict state;
  for (const Slot& slot : slots)
    state.emplace_back(slot.name, slot.handle.tensor());
  return state;
}

LoadReport Module::load_state_dict(const StateDict& state, bool strict) {
  check_nesting();
  std::vector<Slot> slots;
  collect(*this, "", &slots);
  std::unordered_map<std::string_view, const Tensor*> given;
  for (const auto& [name, tensor] : state) given[name] = &tensor;

  LoadReport report;
  std::string mismatches;
  std::unordered_set<std::string_view> wanted;
  for (const Slot& slot : slots) {
    wanted.insert(slot.name);
    const auto found = given.find(slot.name);
    if (found == given.end()) {
      report.missing.push_back(slot.name);
    } else if (found->second->sizes() != slot.handle.sizes()) {
      mismatches +=
          size_mismatch(slot.name, slot.handle.tensor(), *found->second);
    }
  }
  for (const auto& [name, tensor] : state)
    if (!wanted.contains(name)) report.unexpected.push_back(name);

  std::string problems = mismatches;
  if (strict && !report.unexpected.empty())
    problems.insert(0, "\n\tUnexpected key(s) in state_dict: " +
                           quoted(report.unexpected) + ".");
  if (strict && !report.missing.empty())
    problems.insert(
        0, "\n\tMissing key(s) in state_dict: " + quoted(report.missing) + ".");
  if (!problems.empty())
    throw UserError("Error(s) in loading state_dict for " + type_name() + ":" +
                    problems);

  for (const Slot& slot : slots) {
    const auto found = given.find(slot.name);
    if (found == given.end()) continue;
    const Tensor& tensor = *found->second;
    const DType dtype = slot.handle.dtype();
    slot.handle.set_tensor(tensor.dtype() == dtype ? tensor : tensor.to(dtype));
  }
  return report;
}

}  // namespace fxjit::nn
