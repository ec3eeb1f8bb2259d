// CompiledModule::make_control: the programs of branches and bodies.
#include "src/compile/compiled_module.h"
#include "src/passes/control_flow.h"
#include "src/program/control_kernel.h"
#include "src/program/kernel_plan.h"
#include "src/program/planner.h"

namespace fxjit {
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
ValueList with_constants(const program::KernelRequest& request) {
  size_t next = 0;
  ValueList args;
  for (const Value& arg : request.args)
    args.push_back(map_leaves(arg, [&](const Value& leaf) -> Value {
      if (!leaf.is_tensor()) return leaf;
      const Tensor& constant = request.constants[next++];
      return constant.defined() ? Value(constant) : leaf;
    }));
  return args;
}

bool is_input(const Value& arg) {
  return arg.is_tensor() && arg.as_tensor().is_meta();
}

// Steps that are not worth a second thread each.
bool is_short(const program::Executable::Parts& parts) {
  constexpr double kFlops = 1e6, kBytes = 256 << 10;
  for (const program::KernelPlan& plan : parts.plans)
    if (plan.flops > kFlops || plan.bytes > kBytes) return false;
  return true;
}

// How the results of a body lie: as the call gives them, stacks slice by slice.
std::vector<Dims> body_layouts(const passes::ControlSpec& spec, size_t which,
                               size_t carried) {
  if (spec.kind == ControlFlow::while_loop && which == 0) return {};
  std::vector<Dims> strides;
  for (const Value& result : spec.results) {
    Dims own = result.as_tensor().strides();
    if (spec.kind != ControlFlow::cond && strides.size() >= carried)
      own.erase(0);
    strides.push_back(own);
  }
  return strides;
}

}  // namespace

std::shared_ptr<const program::ExternKernel> CompiledModule::make_control(
    const program::KernelRequest& request, CompiledShape::Parts& parts) {
  const passes::ControlSpec& spec = passes::control_spec(request.args[0]);
  program::ControlStep step;
  step.kind = spec.kind;
  step.pred = request.args[1];
  step.carried = request.args[2].as_sequence();
  step.xs = request.args[3].as_sequence();
  step.operands = request.args[4].as_sequence();
  step.results = request.results;
  step.limits = loop_limits_;
  const ValueList args =
      passes::body_args(spec, with_constants(request));
  for (size_t i = 0; i < spec.bodies.size(); ++i) {
    program::ControlBody body{body_name(spec.kind, i), nullptr, {}, false};
    for (size_t a = 0; a < args.size(); ++a)
      if (is_input(args[a])) body.arguments.push_back(static_cast<int32_t>(a));
    body.fails = spec.failing == i;
    passes::ModelGraph model = passes::normalize_body(
        {*spec.bodies[body.fails ? 1 - i : i], args, body_layouts(spec, i, step.carried.size()),
         nullptr});
    program::Executable::Parts made = make_program(std::move(model), parts);
    if (is_short(made)) made.max_threads = 1;
    body.program = std::make_shared<program::Executable>(std::move(made));
    step.bodies.push_back(std::move(body));
  }
  return program::make_control_kernel(std::move(step));
}

}  // namespace fxjit
