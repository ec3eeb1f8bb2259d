// A step as the planner leaves it.
#pragma once

#include <utility>

#include "src/program/steps/steps.h"

namespace fxjit::program {

template <Skeleton S>
S analysed(S step, CpuLevel level) {
  step.analyse(Machine{.level = level});
  return step;
}
inline StepBody analysed(StepBody step, CpuLevel level) {
  analyse(step, Machine{.level = level});
  return step;
}

}  // namespace fxjit::program
