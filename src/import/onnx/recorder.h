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

  // An input. Bit d of `fixed_dims`: dim d has the example's size in all calls.
  Value input(std::string_view name, const Tensor& example,
              uint32_t fixed_dims);
  // An input of which no example is known, or that is a sequence.
  Value other_input(std::string_view name, bool sequence);
  bool is_list(const Value& value) const;  // An input that is a sequence.
  // A tensor of the model. It becomes an attribute of the module when a
  // recorded call reads it.
  Value constant(const Tensor& tensor, std::string_view name = "constant");

  // The nodes recorded from now on: their names, and the Python traceback that
  // the exporter left.
  void set_origin(std::string name, std::string stack_trace);

  // The model calls the value so: an entry "onnx_value" of its node's meta, for
  // who compares it with what another runtime gives.
  void set_value_name(const Value& value, std::string_view name);

  // What a proxy gives, or a plain value itself: shapes and types, and numbers
  // where these are known. None where nothing is known.
  static Value example(const Value& value);
  // Whether the example of a number, or of a tensor with numbers, follows from
  // the examples of the inputs' sizes. Others are known as no more than a
  // shape, or are guesses.
  static bool follows_from_sizes(const Value& value);
  // The tensor behind a value that no input changes; null for others and for
  // those that were too large to compute.
  const Tensor* constant_of(const Value& value) const;
  // The size of a dim: a number where it is the same in all calls, otherwise a
  // proxy.
  Value size(const Value& tensor, int64_t dim);
  // `value` as known from elsewhere: a proxy of the same node with this
  // example.
  Value assume(const Value& value, const Tensor& example);

  // Calls torch's function `name`, with nothing computed at once where
  // `results` depends on numbers: examples are those given.
  Value record_data_sized(std::string_view name, ValueList args,
                          const Value& example);

  // Calls a function that is none of torch's; its example is the one given.
  Value record_function(const fx::Function& function, ValueList args,
                        const Value& example);

  // --- Branches and bodies of loops: graphs of their own. ---

  // What is known of a value beforehand; bit d of `fixed_dims`: dim d has the
  // example's size whenever the value is computed.
  struct Known {
    Value example;
    uint32_t fixed_dims = 0;
    bool guessed = false;  // The example's sizes follow from no input's.
  };
  static Known known(const Value& value);

  // A graph that one call of control flow runs. What it uses from outside is
  // passed to it as operands.
  struct Body {
    fx::TracedBody traced;
    ValueList outputs;  // Nodes of its graph.
  };
  using RunBody = std::function<ValueList(const ValueList& inputs)>;
  Body record_body(const std::vector<Known>& inputs, const RunBody& run);
  // One more input of the body that is being recorded, behind the others.
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
  // Records the call; its results, of which this is known.
  ValueList record_control(ControlCall call, const std::vector<Known>& results);

  // Whether a choice was made that holds for the examples' sizes and need not
  // for others.
  bool has_guessed() const { return has_guessed_; }
  void set_guessed() { has_guessed_ = true; }

  // The module, whose graph returns `result`.
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
  // Known sizes, for the graph and for each body around the one being recorded.
  using Sizes = std::map<std::pair<const fx::Node*, int64_t>, Value>;
  std::vector<Sizes> sizes_ = std::vector<Sizes>(1);
  std::vector<fx::TracedBody*> bodies_;  // The one being recorded last.
  std::unordered_set<const fx::Node*> lists_;
  std::vector<std::pair<std::string, nn::ModuleRef>> members_;
  bool has_guessed_ = false;
  std::vector<std::pair<std::string, Tensor>> attributes_;
  std::unordered_set<std::string> attribute_names_, attribute_folders_;
  int64_t budget_;  // Bytes that may still be computed at once.
};

}  // namespace fxjit::onnx
