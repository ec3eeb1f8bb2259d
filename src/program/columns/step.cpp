#include "src/program/columns/step.h"

#include <algorithm>

#include "src/ops/table/prims.h"
#include "src/program/cost/body_work.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

// The work of one result of a column step. What depends on a sum is computed
// once.
double column_operations(const ScalarBody& body, int64_t reduced,
                         CpuLevel level) {
  std::vector<bool> after(body.instrs.size());
  double count = 0;
  for (size_t i = 0; i < body.instrs.size(); ++i) {
    const ScalarInstr& instr = body.instrs[i];
    after[i] = is_reduction(instr.prim);
    const double times = static_cast<double>(reduced);
    bool once = false;
    if (!after[i])
      for (int32_t arg : instr.args)
        once = once || (arg >= 0 && after[static_cast<size_t>(arg)]);
    after[i] = after[i] || once;
    count += operations(instr, level) * (once ? 1.0 : times);
  }
  return count;
}

// Whether the input is one element for each result, whatever is reduced.
bool is_per_result(const ColumnStep& step, size_t input) {
  const Dims& strides = step.inputs[input].reduce;
  return std::all_of(strides.begin(), strides.end(),
                     [](int64_t stride) { return stride == 0; });
}

bool is_gathered(const ColumnStep& step, size_t input) {
  return step.inputs[input].gather_slot >= 0 ||
         std::any_of(step.inputs.begin(), step.inputs.end(),
                     [&](const Access& access) {
                       return access.gather_slot == static_cast<int32_t>(input);
                     });
}

bool lie_alike(const Access& a, const Access& b) {
  return a.dtype == b.dtype && a.outer == b.outer && a.inner == b.inner;
}

}  // namespace

StepPlan ColumnStep::plan(CpuLevel level) const {
  StepPlan plan;
  const int64_t reduced = numel(reduce);
  plan.tasks = numel(outer) * support::ceil_div(inner, block);
  // Lanes without a column take as long as others.
  const int64_t lanes = support::vector_lanes(level);
  const int64_t width =
      std::min(support::round_up(std::max<int64_t>(1, inner), lanes), block);
  plan.grain = grain_of_elements(width * reduced, body_cost(body));
  plan.flops = static_cast<double>(numel(outer) * inner) *
               column_operations(body, reduced, level);
  plan.bytes = touched_bytes(*this);
  return plan;
}

StepFacts ColumnStep::facts() const {
  return {{"outer", outer.str()},
          {"reduced", reduce.str()},
          {"columns", std::to_string(inner)},
          {"reads", types_of(inputs)},
          {"writes", types_of(outputs)}};
}

// A block of columns is reduced before its results are written, the last of
// them when everything has been read.
std::vector<InPlacePair> ColumnStep::in_place() const {
  std::vector<InPlacePair> pairs;
  if (outputs.empty()) return pairs;
  for (size_t in = 0; in < inputs.size(); ++in)
    if (lie_alike(inputs[in], outputs.back()) && is_per_result(*this, in) &&
        !is_gathered(*this, in))
      pairs.push_back({in, inputs.size() + outputs.size() - 1});
  return pairs;
}

StepKernels<ColumnForm> ColumnStep::kernels(CpuLevel level) const {
  return {{column_form(*this, level)}, code_with(step_arguments(*this))};
}

}  // namespace fxjit::program
