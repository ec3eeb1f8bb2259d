// Recorder: makes the graph of an imported model. Values of the model are
// proxies; torch's functions called on them append nodes that call the same
// functions by name. Each proxy knows an example of its value, a meta tensor
// made for some size of every dynamic dim, or the numbers where they follow
// from constants and sizes. What does not depend on inputs at all is computed
// at once, within a budget.
//
// One thread at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/op.h"
#include "fxjit/proxy_base.h"
#include "src/fx/control_flow/trace_body.h"

namespace fxjit::onnx {

class Recorder {
 public:
  Recorder();
  ~Recorder();

  // Adds an input. Bit d of `fixed_dims` says that dim d has the example's size
  // in all calls.
  Value input(std::string_view name, const Tensor& example,
              uint32_t fixed_dims);
  // Adds an input that is a sequence, or of which no example is known.
  Value other_input(std::string_view name, bool sequence);
  bool is_list(const Value& value) const;  // An input that is a sequence.
  // A proxy of a tensor of the model. The tensor becomes an attribute of the
  // module when a recorded call reads it.
  Value constant(const Tensor& tensor, std::string_view name = "constant");

  // Sets the name of the nodes recorded from now on, and the Python traceback
  // that the exporter left for them.
  void set_origin(std::string name, std::string stack_trace);

  // Notes the model's name of a value, as "onnx_value" in its node's metadata.
  // Comparisons with other runtimes use it.
  void set_value_name(const Value& value, std::string_view name);

  // The example of a proxy, or a plain value itself: dtype and shape, with
  // numbers if these are known. None if nothing is known.
  static Value example(const Value& value);
  // Whether an example that has numbers was computed from the examples of input
  // sizes. Otherwise its numbers are unknown or guessed.
  static bool follows_from_sizes(const Value& value);
  // The tensor behind a value that depends on no input. Null for other values,
  // and for values that were too large to compute.
  const Tensor* constant_of(const Value& value) const;
  // The size of a dim: a number if it is the same in all calls, else a proxy.
  Value size(const Value& tensor, int64_t dim);
  // What `make` gives for an element of a tensor, made once in each graph.
  Value element(const Value& tensor, int64_t place,
                const std::function<Value()>& make);
  // A proxy of the same node with another example, for callers that know more
  // of the value.
  Value assume(const Value& value, const Tensor& example);

  // Records torch's function `name`, whose result sizes depend on numbers.
  // Nothing is computed now; `example` is the example of the result.
  Value record_data_sized(std::string_view name, ValueList args,
                          const Value& example);

  // Records a function that is not torch's. `example` is the example of the
  // result.
  Value record_function(const fx::Function& function, ValueList args,
                        const Value& example);

  // --- Branches and bodies of loops: graphs of their own. ---

  // What is known of a value before it is computed. Bit d of `fixed_dims` says
  // that dim d always has the example's size.
  struct Known {
    Value example;
    uint32_t fixed_dims = 0;
    bool guessed = false;  // The example's sizes follow from no input's.
  };
  static Known known(const Value& value);

  // The graph of a branch, or of the body of a loop. Values that it uses from
  // outside are passed to it as operands.
  struct Body {
    fx::TracedBody traced;
    ValueList outputs;  // Nodes of its graph.
  };
  using RunBody = std::function<ValueList(const ValueList& inputs)>;
  Body record_body(const std::vector<Known>& inputs, const RunBody& run);
  // Adds one more input to the body that is being recorded, behind the others.
  Value body_input(const Known& known);

  struct ControlCall {
    fx::ControlFlow kind;
    std::vector<Body> bodies;
    Value pred;         // Of cond: a proxy.
    ValueList carried;  // Of while_loop and scan.
    ValueList xs;       // Of scan and map.
    // In place of the kind's own function, with the same arguments.
    const fx::Function* function = nullptr;
  };
  // Records the call. `results` says what is known of each result.
  ValueList record_control(ControlCall call, const std::vector<Known>& results);

  // Whether something was decided by the sizes of the examples that may be
  // wrong for other sizes.
  bool has_guessed() const { return has_guessed_; }
  void set_guessed() { has_guessed_ = true; }

  // Ends recording: the module with the graph, which returns `result`.
  nn::Ref<fx::GraphModule> finish(const Value& result);

 private:
  class Proxy;

  fx::NodePtr add_input(std::string_view name);
  Value record(const ops::Spelling& function, ValueList args, Kwargs kwargs);
  Value append(const fx::Target& function, const ValueList& args,
               const Kwargs& kwargs, const Value& example, bool fixed,
               bool guessed);
  Value in_parts(fx::NodePtr node, const Value& example, bool fixed,
                 bool guessed);
  Value proxy(fx::NodePtr node, Value example, uint32_t fixed_dims,
              bool guessed = false);
  Value as_argument(const Value& value);
  fx::NodePtr node_of(const Value& proxy);
  fx::Graph& graph();
  fx::NodePtr reach(fx::NodePtr node, size_t level);
  std::vector<std::string> add_bodies(ControlCall& call,
                                      const std::vector<fx::NodePtr>& lifted);
  std::string attribute_name(std::string_view wish);

  std::unique_ptr<fx::Graph> graph_;
  fx::NodePtr last_input_ = nullptr;
  std::string origin_, trace_;
  // What was read of tensors as numbers, by dim and by place.
  using NumberMap = std::map<std::pair<const fx::Node*, int64_t>, Value>;
  struct ReadNumbers {
    NumberMap sizes, elements;
  };
  // For the graph and for each body around the one being recorded.
  std::vector<ReadNumbers> numbers_ = std::vector<ReadNumbers>(1);
  std::vector<fx::TracedBody*> bodies_;  // The one being recorded last.
  std::unordered_set<const fx::Node*> lists_;
  std::vector<std::pair<std::string, nn::ModuleRef>> members_;
  bool has_guessed_ = false;
  std::vector<std::pair<std::string, Tensor>> attributes_;
  std::unordered_set<std::string> attribute_names_, attribute_folders_;
  int64_t budget_;  // Bytes that may still be computed at once.
};

}  // namespace fxjit::onnx
