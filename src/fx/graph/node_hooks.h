// NodeHooks: functions of the user that learn of every edit of a graph, as
// GraphModule registers them. They belong to a Graph and follow a GraphModule
// when it is given another one.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx {

class NodeHooks {
 public:
  using Create = std::function<void(Node& node)>;
  using Erase = std::function<void(Node& node)>;
  using Replace = std::function<void(Node& old_node, std::string_view new_name,
                                     Node& user)>;

  // ValueError for an empty function. Hooks run in order of registration.
  HookId add_create(Create hook);
  HookId add_erase(Erase hook);
  HookId add_replace(Replace hook);
  // ValueError for a hook that is not registered.
  void remove(HookId id);
  bool empty() const {
    return create_.empty() && erase_.empty() && replace_.empty();
  }

  // For Graph and Node.
  void created(Node& node) const;
  void erasing(Node& node) const;
  void replacing(Node& old_node, std::string_view new_name, Node& user) const;

 private:
  template <typename Hook>
  using Hooks = std::vector<std::pair<HookId, Hook>>;

  template <typename Hook>
  HookId add(Hooks<Hook>& hooks, Hook hook, const char* text);

  HookId last_id_ = 0;
  Hooks<Create> create_;
  Hooks<Erase> erase_;
  Hooks<Replace> replace_;
};

}  // namespace fxjit::fx
