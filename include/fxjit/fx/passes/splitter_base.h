// SplitterBase: cuts a model into parts that an accelerator (or any backend)
// runs and parts that it does not, by turns, as few as possible, and gives each
// part sample inputs (torch.fx.passes.splitter_base). What a backend does with
// its parts is the caller's business. CapabilityBasedPartitioner is the other
// way to cut: it leaves unsupported calls where they are.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/passes/operator_support.h"
#include "fxjit/fx/passes/tools_common.h"

namespace fxjit::fx::passes {

// Options of SplitterBase, with torch's names.
struct SplitterSettings {
  // Smaller parts of the accelerator join what stands before them.
  size_t min_acc_module_size = 1;
  // Let calls that pass each other numbers be in different parts.
  bool skip_fusion = false;
  // Let numbers and other values than tensors pass between parts.
  bool allow_non_tensor = false;
  // ValueError when there are more parts; -1: any number.
  int64_t max_acc_splits = -1;
};

// The graph cannot be cut that way.
class FxNetSplitterInternalError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

// Finds the calls that the accelerator takes: those supported, without those
// that get from other calls, or give to them, what is no tensor. ShapeProp must
// have been run, unless `allow_non_tensor`.
class FxNetAccNodesFinder {
 public:
  FxNetAccNodesFinder(const GraphModule& module, OperatorSupportRef support,
                      bool allow_non_tensor);
  virtual ~FxNetAccNodesFinder() = default;
  // In graph order.
  virtual std::vector<NodePtr> operator()();

 private:
  void drop_users_of(std::vector<NodePtr> pending);
  bool drop_producers_for_others();

  const GraphModule& module_;
  OperatorSupportRef support_;
  bool allow_non_tensor_;
  std::vector<bool> is_acc_;  // By node id.
};

// Calls of one part.
struct SplitterSubgraph {
  bool is_acc = false;
  std::vector<NodePtr> nodes;
};

// A split with sample inputs of its submodules.
struct SplitResult {
  nn::Ref<GraphModule> split_module;
  // By name, in order of the calls.
  std::vector<std::pair<std::string, ValueList>> submodule_inputs;
  std::string non_acc_submodule_prefix;
};

// The arguments that these submodules get in a run of `model` on `inputs`.
std::vector<std::pair<std::string, ValueList>> generate_inputs_for_submodules(
    const GraphModule& model, ValueList inputs,
    const std::vector<std::string>& target_submodules);

// Cuts a module into submodules for an accelerator and for the CPU, as torch's
// _SplitterBase. The module is not changed.
class SplitterBase {
 public:
  // Runs the module on the sample input for the shapes of all values.
  SplitterBase(nn::Ref<GraphModule> module, ValueList sample_input,
               OperatorSupportRef support, SplitterSettings settings = {},
               std::string non_acc_submodule_name = "_run_on_cpu_",
               bool return_tuple = false,
               FxNetAccNodesFinder* nodes_finder = nullptr);
  virtual ~SplitterBase() = default;

  // A module whose submodules "_run_on_acc_<n>" and "_run_on_cpu_<n>" are
  // numbered in the order in which they run. FxNetSplitterInternalError when
  // calls that must stay together wait for each other in a circle.
  nn::Ref<GraphModule> operator()();
  SplitResult generate_split_results();

  // The steps of a split.
  std::vector<SplitterSubgraph> put_nodes_into_subgraphs() const;
  std::vector<SplitterSubgraph> remove_small_acc_subgraphs(
      std::vector<SplitterSubgraph> subgraphs) const;
  // Names of the parts, known after a split.
  const std::vector<std::string>& tags() const { return tags_; }
  // The part that each call went to.
  const std::unordered_map<const Node*, std::string>& node_submodule_map()
      const {
    return node_submodule_map_;
  }

 private:
  nn::Ref<GraphModule> module_;
  ValueList sample_input_;
  OperatorSupportRef support_;
  SplitterSettings settings_;
  std::string non_acc_submodule_name_;
  bool return_tuple_;
  std::vector<NodePtr> acc_nodes_;
  NodeGroups fusions_;
  std::vector<std::string> tags_;
  std::unordered_map<const Node*, std::string> node_submodule_map_;
};

}  // namespace fxjit::fx::passes
