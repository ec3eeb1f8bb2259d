// A graph with the values that it is called with, and copies of both for runs
// that may write them. The search for a wrong number makes such cases smaller
// (reducer.h); tests of random graphs make them (tests/compile/random_graph.h).
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx {
class Interpreter;
}

namespace fxjit::checking {

// Copies tensors with their strides. Tensors that share memory have copies that
// share memory. With `wide`, f32 becomes f64.
class MemoryCopies {
 public:
  explicit MemoryCopies(bool wide = false) : wide_(wide) {}
  Tensor operator()(const Tensor& t);
  // `value` with copies of all tensors in it.
  Value in(const Value& value);

 private:
  bool wide_;
  std::map<const Storage*, Tensor> made_;  // All elements of a storage.
};

// The objects of one run. It shares nothing with other runs except constants
// that no run writes.
struct GraphRun {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
  ValueList constants;  // The tensors that a run may have written.
};

struct GraphCase {
  std::unique_ptr<fx::Graph> graph;
  ValueList inputs;  // One per placeholder; never written.
  std::vector<std::pair<std::string, Tensor>> constants;  // By attribute.
  // The modules and other attributes that nodes name. All runs share them.
  nn::AttributeMap members = {};
  // Set if no node writes a constant, so that all runs share the constants.
  bool fixed_constants = false;

  GraphCase copy() const;
  // The objects of a new run. With `wide`, all f32 are f64.
  GraphRun run(bool wide = false) const;
  std::string str() const;  // The graph as text, and its inputs' shapes.
};

// The case of `module` for these values of its placeholders. It shares its
// tensors with both. Its result is that of the graph; the graph's codegen is
// not applied.
GraphCase case_of(const fx::GraphModule& module, std::span<const Value> inputs);

// Node::is_impure for a graph that belongs to no module.
bool is_impure(const GraphCase& c, const fx::Node& node);

// Runs the interpreter with one value for each placeholder.
Value run_on(fx::Interpreter& interpreter, const ValueList& inputs);

}  // namespace fxjit::checking
