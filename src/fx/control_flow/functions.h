// The functions torch.ops.higher_order.*, which nodes of control flow call, as
// they run on values. Where torch takes callables they take graph modules.
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

// The function for a kind of control flow:
//   cond(pred, true_graph, false_graph, operands)
//   while_loop(cond_graph, body_graph, carried, additional)
//   scan(combine_graph, init, xs, additional)
//   associative_scan(combine_graph, xs, additional)
//   map_impl(body_graph, xs, args)
const Function& control_function(ControlFlow kind);
// The kind whose function this is, null for any other function.
const ControlFlow* find_control_flow(const Function* function);

// The arguments of a call by what they mean. `control_call` throws RuntimeError
// for arguments that the function does not take.
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

// Implemented by proxies other than fx::Proxy that record control flow
// themselves, as the compiler's do.
class ControlRecorder {
 public:
  virtual ~ControlRecorder() = default;
  virtual Value record_control(const ControlCall& call) = 0;
};

// Limits on the loops that this thread runs while a LoopLimitsScope lives. A
// scope of null keeps the limits of the scope around it.
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
// Throws RuntimeError if `done` iterations are as many as `limits` allows, or
// if `limits.interrupted` returns true.
void check_limits(const LoopLimits& limits, ControlFlow loop, int64_t done);

}  // namespace fxjit::fx
