// Results in the order of memory that torch gives them. Inside a lowered graph
// values lie as suits the code; what a call returns does not.
#pragma once

#include <unordered_set>
#include <vector>

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// Shape and strides of each value of the result, undefined for other values.
std::vector<Tensor> layouts_of_results(const ModelGraph& model);

// `value` with the strides of `wanted`, in other memory if need be. Strides
// that leave gaps are not made: the value stays as it is.
Value in_order_of(GraphBuilder& builder, const Value& value,
                  const Tensor& wanted);

// The result of a lowered graph; `wanted` has a place for each of its values.
Value results_in_order(GraphBuilder& builder, const Value& result,
                       const std::vector<Tensor>& wanted);

// Elementwise calls of a normalised graph that only results read, and whose
// order is not that of their shape: computed as they are wanted they need no
// copy.
std::unordered_set<const fx::Node*> calls_for_results(const ModelGraph& model);

// An elementwise call of a lowered graph in the order of memory of `val`; none
// where its body asks for positions.
Value call_in_order_of(GraphBuilder& builder, const ops::Op& op,
                       const ValueList& args, const Tensor& val);

}  // namespace fxjit::passes
