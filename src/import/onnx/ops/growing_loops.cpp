#include "src/import/onnx/ops/growing_loops.h"

#include "fxjit/error.h"
#include "fxjit/fx/tracer.h"
#include "src/fx/control_flow/functions.h"
#include "src/fx/control_flow/run.h"

namespace fxjit::onnx {
namespace {

void check_kept(const ValueList& before, const ValueList& after) {
  if (before.size() != after.size())
    throw RuntimeError("[Loop] expected " + std::to_string(before.size()) +
                       " carried values, got " + std::to_string(after.size()));
  for (size_t i = 0; i < before.size(); ++i) {
    const Tensor &a = before[i].as_tensor(), &b = after[i].as_tensor();
    if (a.dtype() != b.dtype() || a.dim() != b.dim())
      throw RuntimeError("[Loop] carried value " + std::to_string(i) +
                         " becomes another: " + a.describe() + " and then " +
                         b.describe());
  }
}

Value run_growing(const ValueList& args, const Kwargs& kwargs) {
  const fx::ActiveTracerScope none(nullptr);
  const fx::ControlCall call =
      fx::control_call(fx::ControlFlow::while_loop, args, kwargs);
  const auto run = [&](size_t body, const ValueList& carried) {
    return call.bodies[body]->forward(fx::joined(carried, call.operands));
  };
  ValueList carried = call.carried;
  for (int64_t done = 0; static_cast<bool>(run(0, carried)); ++done) {
    fx::check_limits(fx::loop_limits(), call.kind, done);
    const ValueList next = run(1, carried).as_sequence();
    check_kept(carried, next);
    carried = next;
  }
  return Value::tuple(std::move(carried));
}

}  // namespace

const fx::Function& growing_loop() {
  static const fx::Function& made =
      fx::define_function("fxjit.onnx.growing_loop", run_growing);
  return made;
}

}  // namespace fxjit::onnx
