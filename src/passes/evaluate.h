// Computes what a ModelGraph at any stage of the compiler stands for, by eager
// functions. A pass is so compared with the captured graph without generated
// code.
#pragma once

#include <functional>
#include <span>

#include "src/passes/model_graph.h"

namespace fxjit::passes {

// Told of each call of an op that was computed.
using OnCall = std::function<void(const fx::Node& node, const ValueList& args,
                                  const Value& result)>;

// The result for these inputs, without the new values of written ones. Sums
// may be added in another order than compiled code adds them. Throws what eager
// functions throw.
Value evaluate(const ModelGraph& model, std::span<const Value> inputs,
               const OnCall& on_call = {});

// What an eager call gave, laid out in memory as `val` says; where elements lie
// in the same places, as it is.
Value as_planned(const Value& value, const Value& val);

}  // namespace fxjit::passes
