// Members of a module tree by qualified name: what passes need that move calls
// from one module to another.
#pragma once

#include <string>
#include <string_view>

#include "fxjit/fx/node.h"
#include "fxjit/nn/module.h"
#include "src/fx/graph_module/submodules.h"

namespace fxjit::fx {

bool has_member(const nn::Module& root, std::string_view path);
// Puts `member` at `path`, making plain modules on the way. A member of another
// kind that has the name is removed first. UserError when something on the way
// is not a module.
void put_member(nn::Module& root, std::string_view path,
                const nn::Member& member);
// `member` with tensors of its own; modules are shared.
nn::Member copy_member(const nn::Member& member);

}  // namespace fxjit::fx
