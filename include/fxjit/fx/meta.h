// Facts attached to a node beside its call: the user's own entries and the path
// of modules in which the call was traced.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/value.h"

namespace fxjit::fx {

// The metadata of a node, torch's node.meta: values by key, in order of
// insertion. Meant for a handful of keys, as look-ups are linear.
class Meta {
 public:
  const Value* find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != nullptr; }
  // KeyError when absent.
  const Value& at(std::string_view key) const;
  void set(std::string_view key, Value value);
  bool erase(std::string_view key);
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<std::pair<std::string, Value>> entries_;
};

// One module being executed, torch's entry of meta["nn_module_stack"].
struct ModuleFrame {
  std::string key;   // Path, with "@n" appended for the n-th repeated call.
  std::string path;  // Qualified name below the traced root.
  std::string type;  // Type name of the module.
  friend bool operator==(const ModuleFrame&, const ModuleFrame&) = default;
};
// Outermost first. Shared by all nodes traced under it.
using ModuleStack = std::vector<ModuleFrame>;

}  // namespace fxjit::fx
