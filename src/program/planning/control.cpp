// Calls of branches and loops: the plans of their bodies, and the step that
// calls them.
#include "src/passes/control_flow.h"
#include "src/program/cost/call_work.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/region_body.h"

namespace fxjit::program {
namespace {

using fx::ControlFlow;

std::string body_name(ControlFlow kind, size_t which) {
  switch (kind) {
    case ControlFlow::cond:
      return which == 0 ? "true" : "false";
    case ControlFlow::while_loop:
      return which == 0 ? "condition" : "body";
    case ControlFlow::scan:
    case ControlFlow::associative_scan:
      return "combine";
    case ControlFlow::map:
      return "body";
  }
  return "";
}

// The arguments of the call with constants in their places.
ValueList with_constants(const ValueList& args,
                         const std::vector<Tensor>& constants) {
  size_t next = 0;
  ValueList made;
  for (const Value& arg : args)
    made.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const Tensor& constant = constants[next++];
      return constant.defined() ? Value(constant) : leaf;
    }));
  return made;
}

// How the results of a body lie: as the call gives them, stacks slice by slice.
std::vector<Dims> body_layouts(ControlFlow kind, const ValueList& results,
                               size_t which, size_t carried) {
  if (kind == ControlFlow::while_loop && which == 0) return {};
  std::vector<Dims> strides;
  for (const Value& result : results) {
    Dims own = result.as_tensor().strides();
    if (kind != ControlFlow::cond && strides.size() >= carried) own.erase(0);
    strides.push_back(own);
  }
  return strides;
}

Plan plan_body(const passes::BodyRequest& request, const PlanOptions& options) {
  passes::ModelGraph body = passes::normalize_body(request);
  body.folded = options.folded;
  return plan(passes::run_pipeline(std::move(body), options.pipeline), options);
}

// The arguments of a body that are inputs of its program.
std::vector<int32_t> inputs_among(const ValueList& args) {
  std::vector<int32_t> inputs;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].is_tensor() && args[i].as_tensor().is_meta())
      inputs.push_back(static_cast<int32_t>(i));
  return inputs;
}

}  // namespace

void plan_control(PlanBuilder& builder, const RegionCall& call,
                  const fx::Node& node) {
  const ValueList args = meta_args(node.args());
  const passes::ControlSpec& spec = passes::control_spec(args[0]);
  CallOperands operands = operands_of(node, call);
  ControlCall step{spec.kind,
                   {},
                   args[1],
                   args[2].as_sequence(),
                   args[3].as_sequence(),
                   args[4].as_sequence(),
                   result_metas(node)};
  const ValueList body_args =
      passes::body_args(spec, with_constants(args, operands.constants));
  for (size_t i = 0; i < spec.bodies.size(); ++i) {
    const std::vector<Dims> layouts =
        body_layouts(spec.kind, result_metas(node), i, step.carried.size());
    const bool fails = spec.failing == i;
    const fx::GraphModule& body = *spec.bodies[fails ? 1 - i : i];
    const int32_t program = builder.add_body(
        plan_body({body, body_args, layouts, nullptr}, builder.options()));
    step.bodies.push_back(
        {body_name(spec.kind, i), program, inputs_among(body_args), fails});
  }
  for (const Placed& result : call.results)
    operands.refs.push_back(result.ref());
  const CallWork work = call_work(*node.called_op(), args, result_metas(node));
  builder.add_step(ExternStep{std::move(step), work.flops, work.bytes,
                              static_cast<int32_t>(call.results.size())},
                   std::move(operands.refs), call);
}

}  // namespace fxjit::program
