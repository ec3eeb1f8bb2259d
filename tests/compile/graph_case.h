// A graph with the values that it is called with, and copies of both for runs
// that may write them. Made by random_graph.h, cut down by graph_reducer.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::testing {

// Copies tensors with their strides; those that share memory share that of the
// copies. With `wide`, float32 becomes float64.
class MemoryCopies {
 public:
  explicit MemoryCopies(bool wide = false) : wide_(wide) {}
  Tensor operator()(const Tensor& t);

 private:
  bool wide_;
  std::map<const Storage*, Tensor> made_;  // All elements of a storage.
};

// What one run works on: nothing of it is shared with other runs.
struct GraphRun {
  nn::Ref<fx::GraphModule> module;
  ValueList inputs;
  ValueList constants;  // The tensors that get_attr nodes give.
};

struct GraphCase {
  std::unique_ptr<fx::Graph> graph;
  ValueList inputs;  // One per placeholder; never written.
  std::vector<std::pair<std::string, Tensor>> constants;  // By attribute.
  int view_writes = 0;   // Calls that write memory through a view of it.
  bool special = false;  // Infinities and NaN are among the inputs.

  GraphCase copy() const;
  // With `wide`, every float32 is a float64 instead.
  GraphRun run(bool wide = false) const;
  std::string str() const;  // The graph as text, and its inputs' shapes.
};

// The same graph with calls of an identity function that compiled graphs do not
// know behind some of its values: each ends a native part.
GraphCase in_parts(const GraphCase& whole, uint32_t seed);

}  // namespace fxjit::testing
