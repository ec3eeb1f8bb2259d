// Gives results the strides that torch's results have. Inside of a lowered
// graph a value may be laid out as suits the code, but not where the user sees
// it.
#pragma once

#include <unordered_set>
#include <vector>

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// Shape and strides of each tensor of the graph's result; undefined for results
// that are no tensors.
std::vector<Tensor> layouts_of_results(const ModelGraph& model);

// `value` with the strides of `wanted`, copied if need be. Strides with gaps
// are not made: the value then stays as it is.
Value in_order_of(GraphBuilder& builder, const Value& value,
                  const Tensor& wanted);

// The result of a lowered graph with the strides of `wanted`, one tensor for
// each of its values.
Value results_in_order(GraphBuilder& builder, const Value& result,
                       const std::vector<Tensor>& wanted);

// The elementwise calls of a normalised graph that only results read and whose
// results are not row-major. If they are computed in that order, no copy is
// needed.
std::unordered_set<const fx::Node*> calls_for_results(const ModelGraph& model);

// Makes an elementwise call of a lowered graph with a result laid out like
// `val`. None if its body reads positions.
Value call_in_order_of(GraphBuilder& builder, const ops::Op& op,
                       const ValueList& args, const Tensor& val);

}  // namespace fxjit::passes
