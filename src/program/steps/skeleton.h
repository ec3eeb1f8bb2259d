// The concept that a loop skeleton's step has to satisfy. Code that walks the
// steps of a program asks them by it alone, so a skeleton is known only by its
// folder, its place in StepBody and its emitter.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/dtype.h"
#include "src/program/steps/machine.h"
#include "src/program/steps/step_code.h"

namespace fxjit::program {

// Sizes of a step by name, for reports.
using StepFacts = std::vector<std::pair<std::string, std::string>>;

// Types of operands, equal ones in a row once: "float32, int64".
template <typename Accesses>
std::string types_of(const Accesses& accesses) {
  std::string text;
  DType last{};
  for (const auto& access : accesses) {
    if (!text.empty() && access.dtype == last) continue;
    text += (text.empty() ? "" : ", ") + std::string(dtype_name(access.dtype));
    last = access.dtype;
  }
  return text;
}

// Two operands of a step that may share memory: each element of `read` is read
// for the last time just before the same element of `written` is written.
struct InPlacePair {
  size_t read;
  size_t written;
};

// The forms of the kernels that a step needs. `code` makes the step's code from
// these kernels, given in the same order.
template <typename Form>
struct StepKernels {
  std::vector<Form> forms;
  std::function<StepCode(std::span<const typename Form::Fn>)> code;
};

// For a step with one kernel: makes its code, which gives `arguments` to the
// kernel.
inline auto code_with(std::vector<int64_t> arguments) {
  return [owner = std::make_shared<const std::vector<int64_t>>(
              std::move(arguments))](std::span<const KernelFn> kernels) {
    return StepCode{kernels[0], {owner, owner->data()}, nullptr};
  };
}

template <typename S>
concept Skeleton =
    std::equality_comparable<S> &&
    requires(const S& step, const Machine& machine, CpuLevel level,
             const typename S::Form& form) {
      // The skeleton's name in reports and in symbols of kernels.
      { S::kName } -> std::convertible_to<std::string>;
      // Whether results may begin at any address and not only at cache lines.
      { S::kWritesAnywhere } -> std::convertible_to<bool>;
      // The number of operands, the last ones, that the step writes.
      { step.written() } -> std::same_as<size_t>;
      // Finds what the step's plan and its code must agree on, and stores it in
      // the step. Called once, when all other fields are set. The functions
      // below read what it found.
      S(step).analyse(machine);
      // How the step is cut into tasks, and how much work it is.
      { step.plan(level) } -> std::same_as<StepPlan>;
      { step.facts() } -> std::same_as<StepFacts>;
      { step.in_place() } -> std::same_as<std::vector<InPlacePair>>;
      { step.kernels(level) } -> std::same_as<StepKernels<typename S::Form>>;
      // A text that is equal for equal forms.
      { form_key(form) } -> std::same_as<std::string>;
    };

// Makes a visitor of StepBody from a function for skeletons and one for extern
// steps.
template <typename... Fn>
struct Overloaded : Fn... {
  using Fn::operator()...;
};
template <typename... Fn>
Overloaded(Fn...) -> Overloaded<Fn...>;

}  // namespace fxjit::program
