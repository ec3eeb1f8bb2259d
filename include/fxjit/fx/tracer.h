// Tracer: runs a module or function on proxies and records what it does.
//
//   fx::Tracer tracer;
//   std::unique_ptr<fx::Graph> graph = tracer.trace(*module);
//   auto gm = fx::GraphModule::create(*tracer.root, std::move(graph), "M");
//
// While a trace runs, the tracer is the active one of its thread: module calls
// and parameter reads in that thread go through it. Other threads are not
// affected.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fxjit/fx/tracer_base.h"
#include "fxjit/nn/module.h"
#include "fxjit/nn/signature.h"

namespace fxjit::fx {

// Values of arguments that are not to be traced, by name. Names of other
// arguments are ignored, as in torch. Lists, tuples and dicts are taken apart:
// the graph has an input for each leaf, and the graph module takes and gives
// such containers.
using ConcreteArgs = std::vector<std::pair<std::string, Value>>;
// One value per argument, in order. For a function of "*args" alone, one input
// per value.
ConcreteArgs concrete_tuple(ValueList values);

// torch's fx.PH: inside a concrete argument, a part that stays symbolic. With a
// key (torch's PHWithMeta), its node has it as meta "ph_key".
Value PH();
Value PH(std::string ph_key);
bool is_placeholder(const Value& value);

// A free function to trace. `run` takes one value per declared argument.
struct TracedFunction {
  std::string name;
  nn::Signature signature;
  std::function<Value(std::vector<Value> bound)> run;
};

// torch's arguments of Tracer.
struct TracerOptions {
  // Functions recorded although they are not wrapped: those in these modules
  // ("math" has "math.sqrt"), and these (by name; "len" is "builtins.len").
  std::vector<std::string> autowrap_modules = {"math"};
  std::vector<std::string> autowrap_functions = {};
  // Shapes of parameters are values while tracing.
  bool param_shapes_constant = false;
};

// Records a module's `forward` as a graph, as torch.fx.Tracer. Derived classes
// decide what is a leaf and how values are recorded. Used by one thread at a
// time.
class Tracer : public TracerBase {
 public:
  // Parameter proxies of the running trace, by qualified name.
  using ParameterProxyCache = std::unordered_map<std::string, Value>;

  explicit Tracer(TracerOptions options = {}) : options_(std::move(options)) {}

  // The module being traced: a fresh one when a function is traced. Tensors
  // met while tracing are stored in it.
  std::shared_ptr<nn::Module> root;

  // The graph of `module.forward` (or of `traced_func_name`), which must be
  // held by a shared handle. The thread's previously active tracer is restored
  // also when an exception leaves the traced code.
  std::unique_ptr<Graph> trace(nn::Module& module,
                               const ConcreteArgs& concrete_args = {});
  std::unique_ptr<Graph> trace(const TracedFunction& function,
                               const ConcreteArgs& concrete_args = {});

  Value create_arg(const Value& value) override;
  nn::Module* owner() const override { return root.get(); }
  // Recorded as one call_module instead of being traced through. Default:
  // Module::is_leaf, the layers of fxjit::nn but Sequential.
  virtual bool is_leaf_module(const nn::Module& module,
                              std::string_view qualified_name) const;
  // NameError when the module is not below the root.
  virtual std::string path_of_module(const nn::Module& module) const;
  virtual Value call_module(nn::Module& module, const ValueList& args,
                            const Kwargs& kwargs);
  // What reading a parameter or buffer gives; `attr` is its qualified name, ""
  // when it is not below the root.
  virtual Value getattr(std::string_view attr, const nn::Parameter& value,
                        ParameterProxyCache& cache);
  // One value per declared argument: proxies of new placeholders, or parts of
  // `concrete_args`.
  virtual std::vector<Value> create_args_for_root(
      const nn::Signature& signature, const ConcreteArgs& concrete_args);
  // Whether the options say that this function is recorded.
  bool autowraps(const Function& function) const;
  // A name starting with `prefix` that the root does not have.
  virtual std::string get_fresh_qualname(std::string_view prefix);

  // Entry points of nn::Module and nn::Parameter.
  Value call_from_user(nn::Module& module, const ValueList& args,
                       const Kwargs& kwargs, SourceLocation source);
  Value read_parameter(const nn::Parameter& parameter);

  // Members that the last trace added to the root: bodies of control flow.
  std::vector<std::string> added_bodies;

  // Looks up everything below `root` anew; needed after changing the root
  // during a trace, and when a tracer is used without `trace`.
  void index_root();

 private:
  struct TensorAttr {
    Tensor tensor;  // Kept: its identity is the key.
    std::string name;
  };

  std::unique_ptr<Graph> run_trace(
      const nn::Signature& signature,
      const std::function<Value(std::vector<Value>)>& run,
      const ConcreteArgs& concrete_args);
  Value flatten_result(const nn::Signature& signature, const Value& in_tree,
                       const Value& result);
  std::vector<Value> inputs_of_variadic(const nn::Signature& signature,
                                        const ConcreteArgs& concrete);
  static void mark_placeholder(const Value& proxy, const Value& concrete);
  Value placeholder(const nn::ArgSpec& spec, const ConcreteArgs& concrete);
  Value specialise(const nn::ArgSpec& spec, const Value& value, int* count);
  Value constant_arg(const Tensor& tensor);

  TracerOptions options_;
  bool root_is_fresh_ = false;  // Made for a function being traced.
  std::unordered_map<const nn::Module*, std::string> module_paths_;
  std::unordered_map<const nn::TensorSlot*, std::string> slot_names_;
  std::unordered_map<const void*, TensorAttr> tensor_attrs_;
  // Read while tracing, and not below the root: kept by identity.
  std::unordered_map<const void*, Tensor> foreign_parameters_;
  std::unordered_map<std::string, int> num_calls_;
  std::unordered_map<std::string, int> qualname_counter_;
  ParameterProxyCache parameter_cache_;
};

// The tracer whose trace runs in this thread; null outside of traces.
Tracer* active_tracer();
inline bool is_fx_tracing() { return active_tracer() != nullptr; }

// Makes a tracer the active one of this thread while it lives. Null suspends
// tracing: modules then run as they are.
class ActiveTracerScope {
 public:
  explicit ActiveTracerScope(Tracer* tracer);
  ~ActiveTracerScope();
  ActiveTracerScope(const ActiveTracerScope&) = delete;
  ActiveTracerScope& operator=(const ActiveTracerScope&) = delete;

 private:
  Tracer* previous_;
};

}  // namespace fxjit::fx
