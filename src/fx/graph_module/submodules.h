// The modules below a GraphModule: what its parts share.
#pragma once

#include <string>

#include "fxjit/fx/node.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {

// Calls a submodule or reads an attribute.
inline bool refers_to_module(const Node& node) {
  return node.is(Opcode::get_attr) || node.is(Opcode::call_module);
}

// The child `name`, made if it is not there; null when it is no module.
nn::Module* child_or_new(nn::Module& module, const std::string& name);
// The module that owns the last part of `path`, which alone is left of it.
// Modules on the way are made as above; null when one is no module, and the
// path then begins with its name.
nn::Module* owner_or_new(nn::Module& root, std::string_view& path);

}  // namespace fxjit::fx
