// A graph with the values that it is called with, and copies of both for runs
// that may write them. The search for a wrong number cuts it down (reducer.h),
// the tests of random graphs make such (tests/compile/random_graph.h).
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

// Copies tensors with their strides; those that share memory share that of the
// copies. With `wide`, float32 becomes float64.
class MemoryCopies {
 public:
  explicit MemoryCopies(bool wide = false) : wide_(wide) {}
  Tensor operator()(const Tensor& t);
  // Of all tensors in a container.
  Value in(const Value& value);

 private:
  bool wide_;
  std::map<const Storage*, Tensor> made_;  // All elements of a storage.
};

// What one run works on: nothing of it is shared with other runs, but for
// constants that no run writes.
struct GraphRun {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
  ValueList constants;  // The tensors that a run may have written.
};

struct GraphCase {
  std::unique_ptr<fx::Graph> graph;
  ValueList inputs;  // One per placeholder; never written.
  std::vector<std::pair<std::string, Tensor>> constants;  // By attribute.
  // Modules and other attributes that nodes name. Runs share them.
  nn::AttributeMap members = {};
  // The graph writes no constant: runs share them.
  bool fixed_constants = false;

  GraphCase copy() const;
  // With `wide`, every float32 is a float64 instead.
  GraphRun run(bool wide = false) const;
  std::string str() const;  // The graph as text, and its inputs' shapes.
};

// The graph of `module` for these values of its placeholders. Tensors are
// shared with both. The case gives the graph's own result: what its codegen
// would make of it is left out.
GraphCase case_of(const fx::GraphModule& module, std::span<const Value> inputs);

// Node::is_impure, for graphs that are no module's.
bool is_impure(const GraphCase& c, const fx::Node& node);

// Runs the interpreter on one value for each placeholder.
Value run_on(fx::Interpreter& interpreter, const ValueList& inputs);

}  // namespace fxjit::checking
