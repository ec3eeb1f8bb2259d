// What split_const_subgraphs gives: a graph module that computes values before
// its first call. Files and C++ code of a module have to know the class.
#pragma once

#include <mutex>
#include <string>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

// A graph module that reads values computed by `const_subgraph_module`, which
// takes no inputs. Calls may run in several threads; the first computes the
// values. An Interpreter made by hand needs `run_folding` before.
class FoldedGraphModule : public GraphModule {
 public:
  // Without `const_subgraph`, a plain graph module.
  FoldedGraphModule(const nn::Module& root, std::unique_ptr<Graph> graph,
                    std::unique_ptr<Graph> const_subgraph = nullptr,
                    std::string folded_attrs_name = {});

  // Null when there was nothing to fold.
  const nn::Ref<GraphModule>& const_subgraph_module() const {
    return const_subgraph_module_;
  }
  // The attribute that holds the values: one tensor, or a list of them.
  const std::string& folded_attrs_name() const { return folded_attrs_name_; }
  // AssertionError when folding has been run already.
  void run_folding();
  // Runs it if it was not yet, as the first call does. Thread-safe.
  void ensure_folded() const;

  Value invoke(const ValueList& args, const Kwargs& kwargs) override;
  Value invoke_bound(std::vector<Value> inputs) override;

 private:
  void fold();
  void fold_once();

  nn::Ref<GraphModule> const_subgraph_module_;
  std::string folded_attrs_name_;
  std::once_flag folding_;
  bool has_folding_been_run_ = false;
};

}  // namespace fxjit::fx::passes
