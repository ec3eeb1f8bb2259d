#include "src/program/rows/step.h"

#include <algorithm>

#include "src/ops/table/prims.h"
#include "src/program/cost/body_work.h"
#include "src/program/rows/arrange.h"
#include "src/program/rows/rewrite.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// The work of a row. What is constant along it is computed
// once.
double row_operations(const RowStep& step, CpuLevel level) {
  double count = 0;
  for (size_t i = 0; i < step.body.instrs.size(); ++i) {
    const ScalarInstr& instr = step.body.instrs[i];
    const bool repeated =
        step.code.schedule.varies[i] || is_reduction(instr.prim);
    count += operations(instr, level) *
             (repeated ? static_cast<double>(step.inner) : 1.0);
  }
  return count;
}

bool is_index(const RowStep& step, size_t input) {
  return std::any_of(step.inputs.begin(), step.inputs.end(),
                     [&](const Access& access) {
                       return access.gather_slot == static_cast<int32_t>(input);
                     });
}

// Pairs that lie alike, of inputs whose elements are read in their places.
std::vector<InPlacePair> alike_pairs(const RowStep& step) {
  std::vector<InPlacePair> pairs;
  for (size_t out = 0; out < step.outputs.size(); ++out)
    for (size_t in = 0; in < step.inputs.size(); ++in)
      if (step.inputs[in] == step.outputs[out] &&
          step.inputs[in].gather_slot < 0 && !is_index(step, in))
        pairs.push_back({in, step.inputs.size() + out});
  return pairs;
}

}  // namespace

bool is_flat(const RowStep& step) {
  return step.outer.empty() && !has_reduction(step.body);
}

void RowStep::analyse(const Machine& machine) {
  rewrite_body(*this);
  arrange_dims(*this, machine);
  code = row_code(*this, machine);
}

StepPlan RowStep::plan(CpuLevel level) const {
  StepPlan plan;
  const int64_t rows = numel(outer);
  const double cost = body_cost(body);
  const double elements = static_cast<double>(rows * inner);
  if (is_flat(*this)) {
    plan.tasks = (inner + kFlatChunk - 1) / kFlatChunk;
    plan.grain = grain_of_elements(kFlatChunk, cost);
    plan.flops = elements * body_operations(body, level);
  } else {
    plan.tasks = rows / code.rows_of_task();
    plan.grain = grain_of_elements(inner * code.rows_of_task(), cost);
    plan.together = code.tasks_at_once();
    plan.scratch_bytes = code.scratch_bytes();
    plan.flops = static_cast<double>(rows) * row_operations(*this, level);
  }
  plan.bytes = touched_bytes(*this);
  return plan;
}

StepFacts RowStep::facts() const {
  return {
      {"outer", outer.str()},
      {"row", std::to_string(inner)},
      {"reads", types_of(inputs)},
      {"writes", types_of(outputs)},
      {"operations", std::to_string(static_cast<int64_t>(body.instrs.size()))}};
}

// What is stored before the last pass may be in the place of what that reads.
std::vector<InPlacePair> RowStep::in_place() const {
  std::vector<InPlacePair> pairs = alike_pairs(*this);
  if (pairs.empty()) return pairs;
  if (!code.crosswise.empty() || code.schedule.passes.empty()) return {};
  const std::vector<int32_t>& last = code.schedule.passes.back().stores;
  std::erase_if(pairs, [&](InPlacePair pair) {
    const auto result = static_cast<int32_t>(pair.written - inputs.size());
    return std::find(last.begin(), last.end(), result) == last.end();
  });
  return pairs;
}

StepKernels<RowForm> RowStep::kernels(CpuLevel level) const {
  return {{row_form(*this, level)}, code_with(step_arguments(*this))};
}

}  // namespace fxjit::program
