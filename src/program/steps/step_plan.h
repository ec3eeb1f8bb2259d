// How each kind of step is cut into tasks, and its work.
#pragma once

#include "fxjit/cpu_level.h"
#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"

namespace fxjit::program {

// For an extern step it has the work alone: its routine says the tasks and the
// scratch.
inline StepPlan step_plan(const StepBody& body, CpuLevel level) {
  return std::visit([&](const auto& step) { return step.plan(level); }, body);
}

}  // namespace fxjit::program
