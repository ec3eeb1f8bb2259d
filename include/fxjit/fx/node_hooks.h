// NodeHooks: functions of the user that learn of every edit of a graph: nodes
// created, nodes erased, uses replaced. They belong to a Graph and follow a
// GraphModule when it is given another one.
//
// A hook may throw: the edit is then refused and the graph is as it was. Hooks
// may read the graph but must not edit it, and must not register hooks.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace fxjit::fx {

class Node;

// Names a registered hook; 0 names none.
using HookId = uint64_t;

class NodeHooks {
 public:
  // After a node was created and put into the graph.
  using Create = std::function<void(Node& node)>;
  // Before a node without users is removed.
  using Erase = std::function<void(Node& node)>;
  // Before `user` takes the node called `new_name` instead of `old_node`, and
  // for every user of a node about to be renamed to `new_name`.
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
