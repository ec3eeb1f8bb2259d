#include "src/fx/graph/node_hooks.h"

#include <string>

#include "fxjit/error.h"

namespace fxjit::fx {
namespace {

template <typename Hooks>
bool erase_id(Hooks& hooks, HookId id) {
  return std::erase_if(
             hooks, [id](const auto& entry) { return entry.first == id; }) != 0;
}

}  // namespace

template <typename Hook>
HookId NodeHooks::add(Hooks<Hook>& hooks, Hook hook, const char* text) {
  if (!hook) throw ValueError(std::string(text) + " must be a callable.");
  hooks.emplace_back(++last_id_, std::move(hook));
  return last_id_;
}

HookId NodeHooks::add_create(Create hook) {
  return add(create_, std::move(hook), "create_node hook");
}

HookId NodeHooks::add_erase(Erase hook) {
  return add(erase_, std::move(hook), "erase_node hook");
}

HookId NodeHooks::add_replace(Replace hook) {
  return add(replace_, std::move(hook), "replace_node hook");
}

void NodeHooks::remove(HookId id) {
  if (erase_id(create_, id) || erase_id(erase_, id) || erase_id(replace_, id))
    return;
  throw ValueError("[node hooks] remove: expected a registered hook, got " +
                   std::to_string(id));
}

void NodeHooks::created(Node& node) const {
  for (const auto& [id, hook] : create_) hook(node);
}

void NodeHooks::erasing(Node& node) const {
  for (const auto& [id, hook] : erase_) hook(node);
}

void NodeHooks::replacing(Node& old_node, std::string_view new_name,
                          Node& user) const {
  for (const auto& [id, hook] : replace_) hook(old_node, new_name, user);
}

}  // namespace fxjit::fx
