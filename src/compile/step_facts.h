// Steps of programs in the words of reports.
#pragma once

#include <string>

#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"

namespace fxjit {

// As StepInspection::skeleton.
std::string skeleton_name(const program::StepBody& body);
// As StepInspection::sizes.
program::StepFacts step_sizes(const program::StepBody& body,
                              const program::StepPlan& plan);
// How many of a step's last operands it writes.
size_t written_operands(const program::StepBody& body);

}  // namespace fxjit
