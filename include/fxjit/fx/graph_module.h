// GraphModule: a module whose forward is a Graph. Calling it runs the graph by
// the interpreter until native code is installed (see fxjit/compile.h).
//
// Edits of the graph take effect with `recompile`; calls before it run the
// graph as it was. Calls may run in several threads at once, also while a
// native forward is being installed. Editing the graph, `recompile` and the
// submodule functions must not run beside calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fxjit/fx/graph.h"
#include "fxjit/nn/module.h"

namespace fxjit {
struct CompileOptions;
}

namespace fxjit::fx {

class RunningGraph;
struct ControlCall;
struct LoopLimits;

// Names a function registered with a graph module; 0 names none.
using HookId = uint64_t;

// A compiled replacement of the interpreter. Shared by all calling threads.
class NativeForward {
 public:
  virtual ~NativeForward() = default;
  // `inputs` are the placeholders' values in order, defaults filled in; "*args"
  // and "**kwargs" arrive as one tuple and one dict. Returns false, without
  // effects, when these inputs are not served (a shape not compiled yet): the
  // interpreter then runs. Errors are thrown.
  virtual bool run(std::span<const Value> inputs, Value* result) = 0;
  // What bounds the loops of calls that the interpreter serves instead. Null:
  // whatever bounds the call already.
  virtual const LoopLimits* limits() const { return nullptr; }
};

class GraphModule : public nn::Module {
 public:
  // Takes from `root` what the graph refers to: modules, parameters, buffers
  // and attributes are shared with it, not copied. AttributeError with torch's
  // text when a target is missing.
  GraphModule(const nn::Module& root, std::unique_ptr<Graph> graph,
              std::string class_name = "GraphModule");
  // As above, from qualified names to modules, parameters or tensors;
  // RuntimeError naming the node when a target is missing.
  GraphModule(const nn::AttributeMap& root, std::unique_ptr<Graph> graph,
              std::string class_name = "GraphModule");
  ~GraphModule() override;

  static nn::Ref<GraphModule> create(const nn::Module& root,
                                     std::unique_ptr<Graph> graph,
                                     std::string class_name = "GraphModule");

  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  // Takes over `graph` and recompiles.
  void set_graph(std::unique_ptr<Graph> graph);
  // Makes edits of the graph take effect: lints it, drops the native forward,
  // and plans and prints anew when that is asked for.
  void recompile();
  // Python source of forward, as of the last recompile.
  const std::string& code() const { return python_code().src; }
  const PythonCode& python_code() const;
  std::string print_readable(const CodeOptions& options = {}) const;
  // torch's str(gm): module tree, code and a hint.
  std::string str() const override;

  // Writes a Python package that torch imports: "from <folder> import
  // <module_name>" gives a torch.nn.Module with this code and these weights.
  // Modules of the user are traced for it. The parent of `folder` must exist.
  // ValueError for a module_name that is no Python name, RuntimeError when a
  // file cannot be written.
  void to_folder(const std::string& folder,
                 const std::string& module_name = "FxModule") const;

  // Same graph and same parameters in a module of its own: nested graph modules
  // are copied too, other modules and all tensors are shared.
  nn::Ref<GraphModule> copy() const;

  // As torch's deepcopy: graph, modules and tensors of its own, what was shared
  // inside stays shared inside. Edits of the graph not recompiled yet take
  // effect in the copy. NotImplementedError for a module of a class that cannot
  // be copied (see fxjit/nn/deep_copy.h).
  nn::Ref<GraphModule> deep_copy() const;
  std::shared_ptr<nn::Module> clone() const override;

  // --- Compiling: see fxjit/compile.h, which has these as functions. ---
  void compile();
  void compile(const CompileOptions& options);
  bool prepare(std::span<const Value> inputs);
  std::string report() const;

  // Installs native code; null removes it. Thread-safe beside calls.
  void set_native_forward(std::shared_ptr<NativeForward> native);
  NativeForward* native_forward() const {
    return native_.load(std::memory_order_acquire);
  }
  // Runs the interpreter, whatever is installed. `inputs` as
  // NativeForward::run.
  Value interpret(std::span<const Value> inputs) const;
  // Python's argument binding to the placeholders; TypeError with Python's
  // text.
  std::vector<Value> bind_inputs(const ValueList& args,
                                 const Kwargs& kwargs) const;

  Value invoke(const ValueList& args, const Kwargs& kwargs) override;
  Value invoke_bound(std::vector<Value> inputs) override;
  const nn::Signature& signature() const override;

  // False when a parent on the way is missing and cannot be made.
  bool add_submodule(std::string_view target, nn::ModuleRef module);
  bool delete_submodule(std::string_view target);
  void delete_all_unused_submodules();

  // Functions that learn of edits of the graph, also of one set later; copies
  // of the module have them too. ValueError for an empty function or an unknown
  // id.
  // They may read the graph but must not edit it or register hooks. A hook that
  // throws refuses the edit, and the graph is as it was.
  //
  // After a node was created and put into the graph.
  HookId register_create_node_hook(std::function<void(Node& node)> hook);
  // Before a node without users is removed.
  HookId register_erase_node_hook(std::function<void(Node& node)> hook);
  // Before `user` takes the node called `new_name` instead of `old_node`, and
  // for every user of a node about to be renamed to `new_name`.
  HookId register_replace_node_hook(
      std::function<void(Node& old_node, std::string_view new_name, Node& user)>
          hook);
  void unregister_node_hook(HookId id);

  // Name of the tracer class that made the graph, for printing; may be empty.
  const std::string& tracer_name() const { return tracer_name_; }
  void set_tracer_name(std::string name) { tracer_name_ = std::move(name); }

 private:
  friend class Graph;
  friend void check_other_branch(const ControlCall& call, size_t taken,
                                 const Value& made);
  GraphModule(std::unique_ptr<Graph> graph, std::string class_name);
  GraphModule(const GraphModule& other);
  void copy_attribute(const nn::Module& root, const Node& node);
  void assign_attribute(std::string_view target, const nn::Member& member);
  std::string readable_as(const std::string& name,
                          const CodeOptions& options) const;
  Value run_inputs(std::span<const Value> inputs);
  void keep_running_graph();  // Before the first edit after a recompile.

  std::unique_ptr<Graph> graph_;
  std::unique_ptr<RunningGraph> running_;
  std::string tracer_name_;
  std::atomic<NativeForward*> native_{nullptr};
  // Every native forward since the last recompile: calls may still run in them.
  struct NativeOwners;
  std::unique_ptr<NativeOwners> native_owners_;
};

}  // namespace fxjit::fx
