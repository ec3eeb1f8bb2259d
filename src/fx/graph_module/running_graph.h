// The graph that calls of a GraphModule run, which is the graph as it was at
// the last recompile, and what is derived from it once, on first use. Any
// number of threads may read it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/interpreter.h"
#include "fxjit/nn/signature.h"
#include "src/fx/control_flow/other_branch.h"

namespace fxjit::fx {

class RunningGraph {
 public:
  explicit RunningGraph(const Graph& graph);

  // Goes on with `copy`, because the original graph is about to be edited.
  void keep(std::unique_ptr<Graph> copy);

  const Graph& graph() const { return *graph_; }
  const nn::Signature& signature() const { return signature_; }
  const std::vector<NodePtr>& placeholders() const { return placeholders_; }
  // Whether `count` positional arguments are the values of the placeholders as
  // they are, so that no binding is needed.
  bool takes_directly(size_t count) const {
    return !variadic_ && count == placeholders_.size();
  }
  // Derived on first call.
  const ExecutionPlan& plan() const;
  const PythonCode& python_code() const;
  // The calls of cond for which this graph was compared with the branch taken.
  ComparedCalls& compared() { return compared_; }

 private:
  void index_placeholders();

  const Graph* graph_;
  std::unique_ptr<Graph> owned_;
  std::vector<NodePtr> placeholders_;
  nn::Signature signature_;
  bool variadic_ = false;     // Has "*args" or "**kwargs".
  mutable std::mutex mutex_;  // Guards the two below.
  mutable std::unique_ptr<const ExecutionPlan> plan_;
  mutable std::unique_ptr<const PythonCode> code_;
  ComparedCalls compared_;
};

}  // namespace fxjit::fx
