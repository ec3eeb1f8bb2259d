#include "src/compile/step_facts.h"

namespace fxjit {

using program::ExternStep;
using program::Overloaded;
using program::Skeleton;
using program::StepFacts;

std::string skeleton_name(const program::StepBody& body) {
  return std::visit(
      Overloaded{[]<Skeleton S>(const S&) { return std::string(S::kName); },
                 [](const ExternStep&) { return std::string("routine"); }},
      body);
}

StepFacts step_sizes(const program::StepBody& body,
                     const program::StepPlan& plan) {
  return std::visit(
      Overloaded{[](const Skeleton auto& step) { return step.facts(); },
                 [&](const ExternStep&) {
                   return StepFacts{{"tasks", std::to_string(plan.tasks)}};
                 }},
      body);
}

size_t written_operands(const program::StepBody& body) {
  return std::visit([](const auto& step) { return step.written(); }, body);
}

}  // namespace fxjit
