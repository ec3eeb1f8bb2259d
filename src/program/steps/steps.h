// Steps: what a compiled program does, one after the other. Each kind is a loop
// skeleton with bodies as data; it names no op and no buffer, so equal steps
// share one kernel. Steps that no skeleton computes say which call they compute
// and which code does. All of it is plain data that can be compared. Written by
// the planner, read by jit/emit and src/bind.
//
// Strides are in elements of the operand's dtype; a stride of 0 broadcasts.
// Prim::index counts iteration dims in this order: outer, reduce, inner.
#pragma once

#include <variant>

#include "src/program/attention/step.h"
#include "src/program/columns/step.h"
#include "src/program/integers/step.h"
#include "src/program/resampling/step.h"
#include "src/program/rows/step.h"
#include "src/program/steps/extern_step.h"
#include "src/program/tiles/step.h"
#include "src/program/windows/step.h"
#include "src/program/winograd/step.h"

namespace fxjit::program {

using StepBody =
    std::variant<RowStep, ColumnStep, TileStep, IntegerStep, AttentionStep,
                 WinogradStep, WindowStep, ResampleStep, ExternStep>;

template <typename... S>
constexpr bool are_skeletons(const std::variant<S...>*) {
  return ((Skeleton<S> || std::same_as<S, ExternStep>) && ...);
}
static_assert(are_skeletons(static_cast<const StepBody*>(nullptr)));

// What a step finds out about itself for a machine, kept in it.
inline void analyse(StepBody& body, const Machine& machine) {
  std::visit(Overloaded{[&](Skeleton auto& step) { step.analyse(machine); },
                        [](ExternStep&) {}},
             body);
}

// How a step is cut into tasks, and its work. Of an extern step the work alone:
// its routine says the tasks and the scratch.
inline StepPlan step_plan(const StepBody& body, CpuLevel level) {
  return std::visit([&](const auto& step) { return step.plan(level); }, body);
}

}  // namespace fxjit::program
