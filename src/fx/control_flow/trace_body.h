// Tracing branches and bodies into graph modules, as members of the module being
// traced, and the node that calls them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "fxjit/fx/control_flow.h"
#include "fxjit/fx/pytree.h"
#include "src/fx/control_flow/body_frame.h"
#include "src/fx/control_flow/functions.h"

namespace fxjit::fx {

// The tracer that records a call with these values: that of their first proxy,
// else the one whose trace runs; null where the call runs at once.
// NotImplementedError for proxies of no tracer, which is how modules are
// compiled.
TracerBase* recorder_of(const ValueList& values);

struct TracedBody {
  BodyFrame frame;
  std::vector<NodePtr> inputs;
  TreeSpec result;
};

// Calls `run` with one proxy for each of `inputs`: nodes of the graph around
// that are the same in all calls of the body, or None. `output` makes what the
// graph gives of the leaves of the result.
TracedBody trace_body(TracerBase& tracer, const ValueList& inputs,
                      const std::function<Value(ValueList)>& run,
                      const std::function<Value(ValueList)>& output);

// What bodies of one call take from around, in torch's order: what all use
// first, then what each uses alone, by name.
std::vector<NodePtr> merge_lifted(const std::vector<TracedBody*>& bodies);

// The body with one placeholder for each input and each of `lifted`.
std::unique_ptr<Graph> body_graph(const TracedBody& body,
                                  const std::vector<NodePtr>& lifted);

// Makes the bodies members of the owner under `prefixes` with the first number
// that is free, and gives the get_attr nodes that name them.
std::vector<Value> add_bodies(TracerBase& tracer,
                              const std::vector<TracedBody*>& bodies,
                              const std::vector<NodePtr>& lifted,
                              const std::vector<std::string>& prefixes);

// Records the call and gives its results as proxies of the structure `result`.
Value record_call(TracerBase& tracer, ControlFlow kind, ValueList args,
                  const TreeSpec& result);

}  // namespace fxjit::fx
