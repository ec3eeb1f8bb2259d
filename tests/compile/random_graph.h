// Random graphs over all families of ops, made from a seed. The graph is run as
// it grows, so that every call is valid, values stay of moderate size and
// nothing that jumps (comparisons, rounding, casts to integers) is near its
// jump: results of two correct implementations then agree within rounding.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fxjit/fx/graph_module.h"

namespace fxjit::testing {

// A graph with the values of its placeholders and constants.
struct GraphCase {
  std::unique_ptr<fx::Graph> graph;
  ValueList inputs;            // One per placeholder.
  nn::AttributeMap constants;  // Buffers that get_attr nodes name.
  bool rounded = false;        // Something is a 16-bit float.

  // A module of its own; with `wide`, every float32 is a float64 instead.
  nn::Ref<fx::GraphModule> module(bool wide = false) const;
  ValueList inputs_as(bool wide) const;
  std::string str() const;  // The graph as text, and its inputs' shapes.
};

GraphCase random_graph(uint32_t seed);

}  // namespace fxjit::testing
