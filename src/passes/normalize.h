// The first pass: a captured graph and the shapes of one call become a
// normalised ModelGraph. Leaf modules are run through their own forward.
// Methods and all spellings of a function become canonical calls with all
// parameters bound. Sizes become numbers, equal calls are merged, dead ones are
// dropped.
//
// A graph with calls that compiled graphs cannot hold is normalised in parts. A
// part goes from a node to the next such call.
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

// Which part is normalised. All references must outlive the call.
struct PartRequest {
  const fx::GraphModule& module;
  const std::vector<int32_t>& order;
  const fx::Node* begin = nullptr;  // Null: the first node.
  const fx::Node* limit = nullptr;  // Not taken in, nor what follows it.
  // Gives the value, real or meta, of a placeholder or of a call before
  // `begin`.
  std::function<const Value&(const fx::Node&)> known;
  // Storages that calls of the graph may write. Tensors in them are read anew
  // at each call and are no constants.
  const std::unordered_set<const Storage*>& changing;
  // Whether placeholders whose values are real tensors are constants.
  bool fixed = false;
  // The strides that the tensors of the result must have; empty: any.
  std::vector<Dims> layouts = {};
};

struct Part {
  // Computes the graph's result or, for a part before `stop`, the tuple of
  // `outputs`.
  ModelGraph model;
  // The nodes whose values a call of the part is given; tensors in containers
  // are counted in order of appearance. For the first part these are all
  // placeholders; for others what the part reads, including attributes in
  // changing memory.
  std::vector<const fx::Node*> inputs;
  std::vector<const fx::Node*> outputs;  // Read from `stop` on.
  const fx::Node* stop = nullptr;  // Null: the part reaches the graph's end.
  std::exception_ptr why;          // The error of `stop`; null at the limit.
};

// Whether `node`, at which a part ended by `why`, is a call of one op whose
// result depends on the numbers of its arguments.
bool is_data_dependent(const fx::Node& node, const std::exception_ptr& why);

// Normalises the part from `begin` to the first call that compiled graphs
// cannot hold: a function outside of the op table, or a call that changes what
// others may see. Throws UserError that names op, node and source for wrong
// shapes.
Part normalize_part(const PartRequest& request);

// Normalises a whole graph. `inputs` has the value of each placeholder, a
// tensor (real or meta) or anything else. Throws what normalize_part throws,
// and the error of a call that would end a part.
ModelGraph normalize(const fx::GraphModule& module,
                     std::span<const Value> inputs);

}  // namespace fxjit::passes
