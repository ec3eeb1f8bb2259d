// split_const_subgraphs: computes what depends on parameters and attributes
// alone once, before the first call (torch.fx.experimental.const_fold).
#pragma once

#include <functional>
#include <string>

#include "fxjit/fx/folded_graph_module.h"

namespace fxjit::fx::passes {

// `module` split into what is constant and the rest. Nodes for which
// `skip_folding` holds, random and other impure ones stay in the rest. The
// module itself is not changed; parameters and submodules are shared with it.
nn::Ref<FoldedGraphModule> split_const_subgraphs(
    const GraphModule& module,
    const std::function<bool(const Node&)>& skip_folding = nullptr);

// `name` made an identifier that `module` has no member of.
std::string get_unique_attr_name_in_module(const nn::Module& module,
                                           std::string name);

}  // namespace fxjit::fx::passes
