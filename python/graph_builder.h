// Builds a graph node by node from Python. fxjit/graphs.py calls it for the
// nodes of a torch.fx graph.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "fxjit/fx/graph.h"
#include "fxjit/nn/module.h"
#include "python/model.h"

namespace fxjit::python {

// A node of a graph that is being built. It must not be used after its builder
// is gone.
struct BuiltNode {
  fx::NodePtr node;
};

// A node's name, and the Python traceback of the line it comes from.
using NodeText = std::pair<std::string, std::string>;

// Builds one graph. Used by one thread at a time.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) : name_(std::move(name)) {}

  // Adds an input. `like` is what is known of its value: (dtype, sizes,
  // strides) of a tensor, a number, a list of these, or None; sizes may be
  // those of an example. `sizes` are names of those that change, as
  // input_sizes_of() takes them. `given` is the value of an input that callers
  // may leave out, if there is one.
  BuiltNode placeholder(const std::string& name, nanobind::handle like,
                        nanobind::handle sizes, const nanobind::args& given);
  // Adds an array as a member of the module. Its memory is used directly and
  // must not change while programs of the graph exist. With `in_file`, it is a
  // tensor as weight_in_file() takes it.
  BuiltNode attribute(const std::string& name, nanobind::handle array,
                      bool in_file);
  // Adds the graph of a branch or of a loop's body as a member of the module.
  // `body` has built it and ends it with `result`; it takes no calls
  // afterwards.
  BuiltNode body(const std::string& name, GraphBuilder& body,
                 nanobind::handle result);
  // Adds a call of the op table's function `target`, named as torch.fx prints
  // it. Returns None, and adds nothing, if there is no such function, if it
  // does not take these arguments, if its results would not be `like` these, or
  // if its numbers come from PyTorch's generator, whose seed the user sets.
  nanobind::object call(const std::string& target, nanobind::tuple args,
                        nanobind::dict kwargs, const NodeText& text,
                        nanobind::handle like);
  // The same of a method of tensors.
  nanobind::object call_method(const std::string& target, nanobind::tuple args,
                               nanobind::dict kwargs, const NodeText& text,
                               nanobind::handle like);
  // Defines a Python function on torch tensors under a name by which graphs
  // call it. The first function of a name is kept for the rest of the process.
  static const fx::Function& define(const std::string& title,
                                    const nanobind::object& function);
  // Adds a call of such a function; the interpreter makes it.
  BuiltNode call_python(const std::string& title, nanobind::object function,
                        nanobind::tuple args, nanobind::dict kwargs,
                        const NodeText& text, nanobind::handle like);
  // Ends the graph and compiles it. The builder takes no calls afterwards.
  Model* compile(nanobind::handle result, const nanobind::kwargs& options);

 private:
  fx::Graph& graph();
  nn::Ref<fx::GraphModule> finish(nanobind::handle result);
  BuiltNode made(fx::NodePtr node, const NodeText& text, nanobind::handle like);
  bool serves(const fx::Target& target, const ValueList& args,
              const Kwargs& kwargs, nanobind::handle like) const;
  std::optional<Value> example(const Value& argument) const;

  std::string name_;
  nn::Module root_;
  std::unique_ptr<fx::Graph> graph_ = std::make_unique<fx::Graph>();
  // What is known of each node's value: tensors without data, or numbers.
  std::unordered_map<fx::NodePtr, Value> examples_;
};

}  // namespace fxjit::python
