// Traces branches and bodies of loops into graph modules, which become members
// of the module that is being traced, and records the node that calls them.
// Used by control_flow.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fxjit/fx/control_flow.h"
#include "fxjit/fx/pytree.h"
#include "src/fx/control_flow/body_frame.h"
#include "src/fx/control_flow/functions.h"

namespace fxjit::fx {

// The tracer that records a call with these values: that of the first proxy
// among them, else the one whose trace runs. Null if the call runs at once.
// Throws NotImplementedError for proxies without a tracer, which the compiler
// uses.
TracerBase* recorder_of(const ValueList& values);

struct TracedBody {
  BodyFrame frame;
  std::vector<NodePtr> inputs;
  TreeSpec result;
};

// Traces one body. `inputs` are nodes of the graph around, or None for a value
// that differs in each call of the body; `run` is called with a proxy for each.
// `output` turns the leaves of what `run` returns into the result of the body's
// graph.
TracedBody trace_body(TracerBase& tracer, const ValueList& inputs,
                      const std::function<Value(ValueList)>& run,
                      const std::function<Value(ValueList)>& output);

// The nodes that the bodies of one call use from the graphs around, in torch's
// order: first those that all use, then those of each body alone, by name.
std::vector<NodePtr> merge_lifted(const std::vector<TracedBody*>& bodies);

// The graph of a body, with one placeholder for each input and then one for
// each node of `lifted`.
std::unique_ptr<Graph> body_graph(const TracedBody& body,
                                  const std::vector<NodePtr>& lifted);

// Makes each body a member of the module, named by its prefix and the first
// number that is free, and returns the get_attr nodes that read them.
std::vector<Value> add_bodies(TracerBase& tracer,
                              const std::vector<TracedBody*>& bodies,
                              const std::vector<NodePtr>& lifted,
                              const std::vector<std::string>& prefixes);

// Records the call and returns its results as proxies, in the structure
// `result`.
Value record_call(TracerBase& tracer, ControlFlow kind, ValueList args,
                  const TreeSpec& result);

}  // namespace fxjit::fx
