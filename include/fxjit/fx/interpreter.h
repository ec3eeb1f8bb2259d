// Interpreter: runs a graph node by node. Subclasses override the handlers to
// analyse or to change what nodes do (torch.fx's Interpreter).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {

// The values of the nodes of one graph while it runs, in torch a dict `env`.
class Env {
 public:
  Env() = default;
  explicit Env(const Graph& graph) { reset(graph); }

  void reset(const Graph& graph);
  bool contains(const Node& node) const {
    return node.id() < present_.size() && present_[node.id()];
  }
  // Null when absent.
  const Value* find(const Node& node) const {
    return contains(node) ? &values_[node.id()] : nullptr;
  }
  void set(const Node& node, Value value);
  void erase(const Node& node);
  size_t size() const { return size_; }

 private:
  std::vector<Value> values_;  // By node id.
  std::vector<bool> present_;
  size_t size_ = 0;
};

// For each node, the values that no later node uses. Valid until the graph is
// edited. Immutable, so any number of interpreters may share it.
class ExecutionPlan {
 public:
  explicit ExecutionPlan(const Graph& graph);
  std::span<const NodePtr> dead_after(const Node& node) const;

 private:
  std::vector<uint32_t> first_;  // By node id; one more at the end.
  std::vector<NodePtr> dead_;
};

// Runs a graph node by node, as torch.fx.Interpreter. Derived classes override
// the functions for single opcodes, or run_node. One run at a time; module and
// graph must outlive the object.
class Interpreter {
 public:
  // Runs `module.graph()`. Values are dropped after their last use when
  // `garbage_collect_values`.
  explicit Interpreter(const GraphModule& module,
                       bool garbage_collect_values = true);
  // Runs `graph` with the attributes and submodules of `module`.
  Interpreter(const nn::Module& module, const Graph& graph,
              bool garbage_collect_values = true);
  virtual ~Interpreter() = default;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  // Positional arguments in the order of the placeholders; missing ones take
  // their default. Nodes in `initial_env` are not run again. Errors of nodes
  // are thrown on with "While executing %node" appended.
  Value run(ValueList args, Env initial_env = {},
            bool enable_io_processing = true);
  Value run(ValueList args, bool enable_io_processing) {
    return run(std::move(args), {}, enable_io_processing);
  }
  // One value per placeholder; clears `args`, so that inputs die early.
  Value boxed_run(ValueList* args);

  // The value of one node, and by opcode the functions that compute it. `args`
  // and `kwargs` hold values in place of nodes.
  virtual Value run_node(const Node& node);
  virtual Value placeholder(const Target& target, const ValueList& args,
                            const Kwargs& kwargs);
  virtual Value get_attr(const Target& target, const ValueList& args,
                         const Kwargs& kwargs);
  virtual Value call_function(const Target& target, const ValueList& args,
                              const Kwargs& kwargs);
  virtual Value call_method(const Target& target, const ValueList& args,
                            const Kwargs& kwargs);
  virtual Value call_module(const Target& target, const ValueList& args,
                            const Kwargs& kwargs);
  virtual Value output(const Target& target, const ValueList& args,
                       const Kwargs& kwargs);

  // RuntimeError naming the first missing part.
  nn::Member fetch_attr(std::string_view target) const;
  std::pair<ValueList, Kwargs> fetch_args_kwargs_from_env(
      const Node& node) const;
  // `value` with nodes replaced by their values; `node` is for errors.
  Value map_nodes_to_values(const Value& value, const Node& node) const;

  const nn::Module& module() const { return module_; }
  const Graph& graph() const { return graph_; }
  Env env;
  bool extra_traceback = true;  // Append the node to errors.

 protected:
  // For GraphModule: `plan` outlives the interpreter.
  Interpreter(const nn::Module& module, const Graph& graph,
              const ExecutionPlan* plan);
  // Runs one node and keeps its value; errors as of run().
  void execute(const Node& node);
  // The node being run, for handlers that need its meta.
  const Node* current_node() const { return current_; }

 private:
  friend class GraphModule;
  Value run_nodes();

  const nn::Module& module_;
  const Graph& graph_;
  std::unique_ptr<const ExecutionPlan> own_plan_;
  const ExecutionPlan* plan_;  // Null: keep all values.
  ValueList args_;
  size_t next_arg_ = 0;
  const Node* current_ = nullptr;
};

}  // namespace fxjit::fx
