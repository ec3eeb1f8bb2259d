// Finds and makes the modules on a path below a GraphModule. Shared by the
// files of this folder.
#pragma once

#include <string>

#include "fxjit/fx/node.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {

// Whether the node calls a submodule or reads an attribute.
inline bool refers_to_module(const Node& node) {
  return node.is(Opcode::get_attr) || node.is(Opcode::call_module);
}

// The child of this name, which is made if it does not exist. Null if the name
// belongs to something that is no module.
nn::Module* child_or_new(nn::Module& module, const std::string& name);
// Follows `path` from `root` to the module that owns its last part, makes
// missing modules on the way, and cuts `path` down to that last part. Returns
// null if something on the way is no module; `path` then begins with its name.
nn::Module* owner_or_new(nn::Module& root, std::string_view& path);

}  // namespace fxjit::fx
