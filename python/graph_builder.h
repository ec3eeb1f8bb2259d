// Builds a graph node by node from Python: fxjit/graphs.py walks torch.fx's.
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

// A node of a graph that is being built, valid as long as its builder.
struct BuiltNode {
  fx::NodePtr node;
};

// A node's name, and the Python traceback of the line it comes from.
using NodeText = std::pair<std::string, std::string>;

// One graph; used by one thread.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::string name) : name_(std::move(name)) {}

  // `like` is what is known of the node's value: (dtype, sizes, strides) of a
  // tensor, a number, a list of these, or None. Sizes may be those of an example.
  // `given`: nothing, or the value that callers may leave out.
  BuiltNode placeholder(const std::string& name, nanobind::handle like,
                        const nanobind::args& given);
  // A member of the module: an array, whose memory is used as it is and must not
  // change while programs of it are there.
  BuiltNode attribute(const std::string& name, nanobind::handle array);
  // A member of the module: the graph of a branch or of a loop's body, which
  // `body` has built and ends with `result`. That builder takes no calls
  // afterwards.
  BuiltNode body(const std::string& name, GraphBuilder& body,
                 nanobind::handle result);
  // A call of the op table's function `target`, as torch.fx prints it. None,
  // and nothing added, where there is none, it does not take such arguments or
  // would not give values `like` these, or its numbers come from PyTorch's
  // generator, whose seed the user sets.
  nanobind::object call(const std::string& target, nanobind::tuple args,
                        nanobind::dict kwargs, const NodeText& text,
                        nanobind::handle like);
  // The same of a method of tensors.
  nanobind::object call_method(const std::string& target, nanobind::tuple args,
                               nanobind::dict kwargs, const NodeText& text,
                               nanobind::handle like);
  // A Python function on torch tensors, under a name by which graphs call it.
  // The first of a name is kept for the rest of the process.
  static const fx::Function& define(const std::string& title,
                                    const nanobind::object& function);
  // A call of such a function, by the interpreter.
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
  // What is known of the nodes' values: tensors without memory, numbers.
  std::unordered_map<fx::NodePtr, Value> examples_;
};

}  // namespace fxjit::python
