// The functions that nodes of control flow call, torch.ops.higher_order.*, as
// they run on values: graph modules in the place of torch's callables.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "fxjit/fx/control_flow.h"
#include "fxjit/fx/target.h"

namespace fxjit::fx {

enum class ControlFlow : uint8_t {
  cond,
  while_loop,
  scan,
  associative_scan,
  map,
};

// torch.ops.higher_order.cond(pred, true_graph, false_graph, operands),
// .while_loop(cond_graph, body_graph, carried, additional),
// .scan(combine_graph, init, xs, additional),
// .associative_scan(combine_graph, xs, additional),
// .map_impl(body_graph, xs, args).
const Function& control_function(ControlFlow kind);
// Which of them `function` is; null for any other.
const ControlFlow* find_control_flow(const Function* function);

// One call by its parts; RuntimeError for calls of another form.
struct ControlCall {
  ControlFlow kind = ControlFlow::cond;
  Value pred;                         // Of cond.
  std::vector<nn::ModuleRef> bodies;  // One, or two of cond and while_loop.
  ValueList carried;                  // Of while_loop and scan.
  ValueList xs;                       // Of scan, associative_scan and map.
  ValueList operands;                 // What bodies get behind the others.
};
ControlCall control_call(ControlFlow kind, const ValueList& args,
                         const Kwargs& kwargs);

// A proxy of another kind than fx::Proxy that knows what to do with control flow.
class ControlRecorder {
 public:
  virtual ~ControlRecorder() = default;
  virtual Value record_control(const ControlCall& call) = 0;
};

// What bounds the loops that this thread runs while the scope lives. A scope of
// null leaves the limits as they are.
struct LoopLimits {
  int64_t iterations = 0;             // 0: as many as it takes.
  std::function<bool()> interrupted;  // Asked before each iteration; may be null.
};
class LoopLimitsScope {
 public:
  explicit LoopLimitsScope(const LoopLimits* limits);
  ~LoopLimitsScope();
  LoopLimitsScope(const LoopLimitsScope&) = delete;
  LoopLimitsScope& operator=(const LoopLimitsScope&) = delete;

 private:
  const LoopLimits* previous_;
};
const LoopLimits& loop_limits();
// RuntimeError where `done` iterations are as many as there may be, or the loop
// is interrupted.
void check_limits(const LoopLimits& limits, ControlFlow loop, int64_t done);

}  // namespace fxjit::fx
