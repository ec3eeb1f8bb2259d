// split_by_tags: cuts a graph into submodules that run one after the other, by
// a tag on every call (torch.fx.passes.split_utils). See split_module for cuts
// whose order follows from the graph.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/passes/split_module.h"

namespace fxjit::fx::passes {

// A module that holds others by name, for graphs that call them.
class HolderModule : public nn::Module {
 public:
  explicit HolderModule(
      const std::vector<std::pair<std::string, nn::ModuleRef>>& modules);
};

// A graph module for `subgraph`, whose attributes and submodules are those of
// `gm` by the same names, shared with it. With `names`, appends for each its
// name in `gm` and `comp_name` + "." + that name. AttributeError when `gm`
// lacks one.
nn::Ref<GraphModule> lift_subgraph_as_module(
    const GraphModule& gm, std::unique_ptr<Graph> subgraph,
    std::string_view comp_name = {},
    const std::string& class_name = "GraphModule",
    QualnameMap* names = nullptr);

struct SplitByTagsOptions {
  // The tag of a call; by default its meta["tag"].
  std::function<std::string(const Node&)> tag_of = {};
  // Submodules return a tuple also when they have one result.
  bool return_tuple = false;
  // Receives each attribute and submodule with its new qualified name, that in
  // the last part which uses it.
  QualnameMap* fqn_mapping = nullptr;
};

// A module that computes the same as `gm` by calling one submodule per tag,
// named as the tag, in the order of `tags`; one without calls is called too.
// Attributes are read inside of the submodules. `gm` is not changed; modules
// and parameters are shared with it. Linear in the graph.
//
// AssertionError with torch's text for a call without tag, or one that needs a
// call of a later tag; KeyError for a tag that is not among `tags`.
nn::Ref<GraphModule> split_by_tags(const GraphModule& gm,
                                   const std::vector<std::string>& tags,
                                   const SplitByTagsOptions& options = {});

}  // namespace fxjit::fx::passes
