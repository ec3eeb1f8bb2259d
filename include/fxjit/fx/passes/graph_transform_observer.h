// GraphTransformObserver: learns what a pass makes and erases, and draws the
// graph before and after (torch.fx.passes.graph_transform_observer).
//
//   passes::GraphTransformObserver observer(*gm, "my_pass");
//   observer.apply_graph_pass(my_pass);
//   for (const std::string& name : observer.created_nodes()) ...
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

// Observes from its construction to its end. Nodes made meanwhile, and nodes
// put in the place of others, get an entry in meta["from_node"], a list of
// tuples of the node that was replaced (or None), the pass's name, and what it
// did: "create", "replace" or "replace+create".
//
// Used by the thread that edits the graph. `module` must outlive it.
class GraphTransformObserver {
 public:
  // With `log_folder`, which must exist, `finish` writes there
  // "pass_<n>_<passname>_input_graph.dot" and "..._output_graph.dot" when the
  // graph was changed: what was erased and what was made is yellow.
  GraphTransformObserver(
      GraphModule& module, std::string passname,
      std::optional<std::filesystem::path> log_folder = std::nullopt);
  GraphTransformObserver(const GraphTransformObserver&) = delete;
  GraphTransformObserver& operator=(const GraphTransformObserver&) = delete;
  // Ends observing; writes nothing.
  ~GraphTransformObserver();

  // Runs the pass and finishes. When the pass throws, nothing is written.
  void apply_gm_pass(const std::function<void(GraphModule&)>& pass);
  void apply_graph_pass(const std::function<void(Graph&)>& pass);
  // Ends observing and writes the drawings. RuntimeError when a file cannot be
  // written.
  void finish();

  const std::set<std::string>& created_nodes() const { return created_; }
  const std::set<std::string>& erased_nodes() const { return erased_; }
  // How many observers with a folder there have been in this process.
  static int get_current_pass_count();

 private:
  void on_create(Node& node);
  void on_replace(const Node& old_node, std::string_view new_name);
  void stop();
  void draw(const GraphModule& module, const std::set<std::string>& marked,
            const std::string& kind) const;

  GraphModule& module_;
  std::string passname_;
  std::optional<std::filesystem::path> log_folder_;
  int number_ = 0;
  nn::Ref<GraphModule> before_;  // Null without a folder.
  std::vector<HookId> hooks_;    // Empty when no longer observing.
  std::set<std::string> created_, erased_;
  std::unordered_map<std::string, NodePtr> by_name_;
};

}  // namespace fxjit::fx::passes
