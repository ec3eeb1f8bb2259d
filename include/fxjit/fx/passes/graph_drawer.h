// FxGraphDrawer: a graph as text in Graphviz's DOT language, with the layout,
// labels and colours of torch.fx's drawer (torch.fx.passes.graph_drawer), as
// pydot writes them. Nothing is drawn here: give the text to `dot`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

struct DrawerOptions {
  bool ignore_getattr = false;
  // Leave out the boxes of layers' weights.
  bool ignore_parameters_and_buffers = false;
  // Leave arguments that hold nodes out of the labels.
  bool skip_node_names_in_args = true;
  // Write the line of C++ that made each call.
  bool parse_stack_trace = false;
  std::string dot_graph_shape = "record";
  // The colour of a node's box; empty text leaves it as it is.
  std::function<std::string(const Node&)> fill_color = {};
};

// Made once from the module as it is; the texts do not follow later edits.
// Nodes with meta["tensor_meta"] (see ShapeProp) are drawn with it.
class FxGraphDrawer {
 public:
  FxGraphDrawer(const GraphModule& module, const std::string& name,
                const DrawerOptions& options = {});

  // The graph of the module, or that of a graph module it calls by this target;
  // KeyError when there is none.
  const std::string& get_dot_graph() const { return graphs_[0].second; }
  const std::string& get_dot_graph(std::string_view submodule) const;
  // All of them: `name`, and `name` + "_" + target for each submodule.
  const std::vector<std::pair<std::string, std::string>>& get_all_dot_graphs()
      const {
    return graphs_;
  }

 private:
  std::string name_;
  std::vector<std::pair<std::string, std::string>> graphs_;
};

}  // namespace fxjit::fx::passes
