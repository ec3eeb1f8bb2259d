// First pass: a captured graph and the shapes of one call become a normalised
// ModelGraph. Leaf modules are run through their forward, methods and every
// spelling become canonical calls with all parameters bound, sizes become
// numbers, equal calls are merged and dead ones dropped.
//
// A graph with calls that compiled graphs cannot hold is taken in parts: each
// goes from a node to the next such call.
#pragma once

#include <exception>
#include <functional>
#include <span>
#include <unordered_set>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

// Position of each node in its graph, by node id.
std::vector<int32_t> node_order(const fx::Graph& graph);

// From where a part is taken. References must outlive the call.
struct PartRequest {
  const fx::GraphModule& module;
  const std::vector<int32_t>& order;
  const fx::Node* begin = nullptr;  // Null: the first node.
  const fx::Node* limit = nullptr;  // Not taken in, nor what follows it.
  // The value (real or meta) of a placeholder or of a call before `begin`.
  std::function<const Value&(const fx::Node&)> known;
  // Memory that calls of the graph may write: read anew at each call.
  const std::unordered_set<const Storage*>& changing;
  // Placeholders whose values are real tensors stand for constants.
  bool fixed = false;
  // Strides that the tensors of the result get; empty: as they come.
  std::vector<Dims> layouts = {};
};

struct Part {
  // Computes the graph's result or, before `stop`, the tuple of `outputs`.
  ModelGraph model;
  // Whose values the call takes, tensors inside of containers in order of
  // appearance: all placeholders at the graph's beginning; elsewhere what is
  // read, attributes in changing memory among it.
  std::vector<const fx::Node*> inputs;
  std::vector<const fx::Node*> outputs;  // Read from `stop` on.
  const fx::Node* stop = nullptr;  // Null: the part reaches the graph's end.
  std::exception_ptr why;  // The error of `stop`; null at the limit.
};

// The part from `begin` up to the first call that compiled graphs cannot hold
// (functions outside the op table, calls that change what others may see).
// Throws UserError naming op, node and source for wrong shapes.
Part normalize_part(const PartRequest& request);

// The whole graph. `inputs`: the placeholders' values, tensors (real or meta) or
// anything else. Throws as normalize_part, and the error of a part's end.
ModelGraph normalize(const fx::GraphModule& module,
                     std::span<const Value> inputs);

}  // namespace fxjit::passes
