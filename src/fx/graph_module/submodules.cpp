// Adding modules to a GraphModule and removing them.
#include "src/fx/graph_module/submodules.h"

#include <algorithm>
#include <memory>
#include <variant>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx {
namespace {

// Not there, or None.
bool is_absent(const nn::Member& member) {
  const auto* const child = std::get_if<nn::ModuleRef>(&member);
  const auto* const value = std::get_if<Value>(&member);
  return std::holds_alternative<std::monostate>(member) || (child && !*child) ||
         (value && value->is_none());
}

// Refuses to put a module below itself, before any parent is made. Who holds
// one of the modules on the way holds those below it.
void check_tree(const nn::Module& root, std::string_view target,
                const nn::ModuleRef& module) {
  const nn::Module* parent = &root;
  for (size_t dot = target.find('.'); dot != target.npos;
       dot = target.find('.', dot + 1)) {
    const nn::Module* const next = root.find_submodule(target.substr(0, dot));
    if (!next) break;
    parent = next;
  }
  if (module && module->holds(*parent))
    throw ValueError("[module] " + std::string(target) +
                     ": expected a module of its own, got one that holds the "
                     "module that it is put into");
}

}  // namespace

nn::Module* child_or_new(nn::Module& module, const std::string& name) {
  const nn::Member member = module.find_member(name);
  if (is_absent(member)) {
    module.remove_member(name);
  } else {
    const auto* const child = std::get_if<nn::ModuleRef>(&member);
    return child ? child->get() : nullptr;
  }
  return module
      .register_module(name, nn::ModuleRef(std::make_shared<nn::Module>()))
      .get();
}

nn::Module* owner_or_new(nn::Module& root, std::string_view& path) {
  nn::Module* owner = &root;
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.')) {
    owner = child_or_new(*owner, std::string(path.substr(0, dot)));
    if (!owner) return nullptr;
    path.remove_prefix(dot + 1);
  }
  return owner;
}

bool GraphModule::add_submodule(std::string_view target, nn::ModuleRef module) {
  // Before the first parent is made: a refused call changes nothing.
  const bool has_empty_part = target.empty() || target.front() == '.' ||
                              target.back() == '.' ||
                              target.find("..") != target.npos;
  if (has_empty_part)
    throw KeyError("module name can't be empty string \"\"");
  check_tree(*this, target, module);
  nn::Module* const parent = owner_or_new(*this, target);
  if (!parent) return false;
  parent->register_module(std::string(target), std::move(module));
  return true;
}

bool GraphModule::delete_submodule(std::string_view target) {
  const size_t dot = target.rfind('.');
  const bool nested = dot != target.npos;
  nn::Module* const parent =
      nested ? find_submodule(target.substr(0, dot)) : this;
  if (nested) target.remove_prefix(dot + 1);
  if (!parent || !parent->children().contains(target)) return false;
  return parent->remove_member(target);
}

void GraphModule::delete_all_unused_submodules() {
  // Modules used, and all modules on the way to used ones.
  std::vector<std::string> used;
  for (const Node* node : graph_->nodes()) {
    if (!refers_to_module(*node)) continue;
    const std::string target(node->target_name());
    for (size_t dot = target.find('.'); dot != target.npos;
         dot = target.find('.', dot + 1))
      used.push_back(target.substr(0, dot));
    used.push_back(target);
    if (!node->is(Opcode::call_module)) continue;
    const nn::Module* const module = find_submodule(target);
    if (!module) continue;
    for (const auto& [name, child] : module->named_modules())
      used.push_back(name.empty() ? target : target + "." + name);
  }
  std::sort(used.begin(), used.end());
  std::vector<std::string> unused;
  for (const auto& [name, module] : named_modules())
    if (!name.empty() && !std::binary_search(used.begin(), used.end(), name))
      unused.push_back(name);
  // Backwards, so that what follows in its module need not move each time.
  for (auto name = unused.rbegin(); name != unused.rend(); ++name)
    delete_submodule(*name);
}

}  // namespace fxjit::fx
