// Calls of branches and bodies in graphs of the compiler. What is decided when
// compiling becomes part of the graph around; what only a call knows becomes
// one call of control_op(), whose bodies are compiled as programs of their own.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "src/fx/control_flow/functions.h"
#include "src/passes/lowering/graph_builder.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/model_graph.h"

namespace fxjit::passes {

// What a call of control_op() calls. Held by its first argument.
struct ControlSpec : Counted {
  fx::ControlFlow kind = fx::ControlFlow::cond;
  std::vector<nn::Ref<fx::GraphModule>> bodies;
  ValueList results;  // Meta tensors.
  // The branch of a cond that fails for arguments of these sizes. A call that
  // takes it is the interpreter's.
  std::optional<size_t> failing;
};

const ControlSpec& control_spec(const Value& spec);

// A body and the arguments that it is called with. `args` are numbers, real
// tensors for constants of the graph around, and meta tensors for all other
// values.
struct BodyRequest {
  const fx::GraphModule& body;
  const ValueList& args;
  // Strides that the results get; empty: as they come.
  std::vector<Dims> layouts;
  const std::unordered_set<const Storage*>* changing = nullptr;
};
// Normalises a body. Its placeholders stand for the arguments that are meta
// tensors, in order. Throws NotImplementedError if the body has calls for the
// interpreter, draws random numbers, or gives anything but tensors; the flag of
// a loop's condition may be a number that is known.
ModelGraph normalize_body(const BodyRequest& request);
// The results of a body, meta tensors or flags.
ValueList results_of(const ModelGraph& body);

// Makes the call for a control-flow node. `call` holds proxies of the builder
// and tensors. Throws RuntimeError with torch's texts if the bodies do not fit
// together.
Value call_control(GraphBuilder& builder, const fx::ControlCall& call);

// The arguments that each body of a call gets, given the arguments `call` of
// control_op(): carried values as contiguous tensors, slices of `xs` with the
// strides that they have there.
ValueList body_args(const ControlSpec& spec, const ValueList& call);

}  // namespace fxjit::passes
