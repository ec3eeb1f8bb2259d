// What a loop skeleton is to the rest of the library: the concept that its step
// has to satisfy. Whoever walks the steps of a program asks them by it, so that
// a skeleton is known by its folder, its place among StepBody and its emitter
// alone.
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

// Operands of a step that may lie in the same place: every element of `read` is
// read for the last time just before the same element of `written` is written.
struct InPlacePair {
  size_t read;
  size_t written;
};

// The kernels that a step needs, by their forms, and what it is computed by
// once there is code for each of them, in their order.
template <typename Form>
struct StepKernels {
  std::vector<Form> forms;
  std::function<StepCode(std::span<const typename Form::Fn>)> code;
};

// The code of a step that is computed by one kernel, which is given
// `arguments`.
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
      // What reports and symbols of kernels call it.
      { S::kName } -> std::convertible_to<std::string>;
      // Results may begin anywhere, not only at cache lines.
      { S::kWritesAnywhere } -> std::convertible_to<bool>;
      // How many of its last operands it writes.
      { step.written() } -> std::same_as<size_t>;
      // Finds what its plan and its code must agree on, and keeps it in the
      // step: once, when all else is there; the functions below read it.
      S(step).analyse(machine);
      // How it is cut into tasks, and its work.
      { step.plan(level) } -> std::same_as<StepPlan>;
      { step.facts() } -> std::same_as<StepFacts>;
      { step.in_place() } -> std::same_as<std::vector<InPlacePair>>;
      { step.kernels(level) } -> std::same_as<StepKernels<typename S::Form>>;
      // Equal for equal forms.
      { form_key(form) } -> std::same_as<std::string>;
    };

// For visitors of StepBody: a function of skeletons and one of extern steps.
template <typename... Fn>
struct Overloaded : Fn... {
  using Fn::operator()...;
};
template <typename... Fn>
Overloaded(Fn...) -> Overloaded<Fn...>;

}  // namespace fxjit::program
