#include "src/program/attention/step.h"

#include <algorithm>

#include "src/program/attention/run.h"
#include "src/program/cost/body_work.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::ceil_div;

double mask_bytes(const AttentionStep& step, const AttentionMask& mask) {
  const Dims sizes{step.outer, step.batch, step.heads, step.queries, step.keys};
  const Dims strides{mask.access.outer, mask.access.batch, mask.access.head,
                     mask.access.row, mask.key_stride};
  const bool floats = mask.kind == passes::MaskKind::add;
  return extent(sizes, strides) * (floats ? 4.0 : 1.0);
}

// Behind all else lie the scores of a task.
size_t scratch_bytes(const AttentionStep& step, CpuLevel level) {
  const AttentionShape& shape = step.shape;
  const int64_t keys =
      ceil_div(step.keys, std::max<int64_t>(1, shape.key_blocks));
  const int64_t scores =
      shape.few ? step.queries * shape.scores_row : keys * shape.block;
  const int64_t before =
      attention_scratch(attention_form(step), level).scores_at;
  return static_cast<size_t>(before + scores) * sizeof(float);
}

}  // namespace

StepPlan AttentionStep::plan(CpuLevel level) const {
  StepPlan plan;
  const int64_t all_heads = outer * batch * heads;
  const double pairs = static_cast<double>(all_heads) *
                       static_cast<double>(queries) * static_cast<double>(keys);
  plan.tasks = all_heads * shape.query_blocks;
  const double products = pairs * static_cast<double>(depth + value_depth);
  // The softmax counts by its exponentials: the rest is little beside them.
  plan.flops = 2 * (products + pairs * limit_cost(Prim::exp, level));
  plan.bytes = 4.0 * static_cast<double>(all_heads) *
               static_cast<double>((queries + keys) * (depth + value_depth));
  for (const AttentionMask& mask : masks) plan.bytes += mask_bytes(*this, mask);
  // Few queries wait for the bytes of their keys and values.
  const auto tasks = static_cast<double>(std::max<int64_t>(1, plan.tasks));
  plan.grain = std::min(grain_of(kGrainProducts / 4, products / tasks),
                        grain_of(kGrainBytes, plan.bytes / tasks));
  plan.scratch_bytes = scratch_bytes(*this, level);
  return plan;
}

StepFacts AttentionStep::facts() const {
  return {{"batch", std::to_string(outer * batch)},
          {"heads", std::to_string(heads)},
          {"queries", std::to_string(queries)},
          {"keys", std::to_string(keys)},
          {"depth", std::to_string(depth)},
          {"masks", std::to_string(masks.size())},
          {"causal", causal ? "yes" : "no"}};
}

StepKernels<AttentionForm> AttentionStep::kernels(CpuLevel) const {
  const auto run = std::make_shared<AttentionRun>(*this);
  return {{run->form()}, [run](std::span<const AttentionFn> code) {
            run->set_code(code[0]);
            return StepCode{run_attention_step, run, nullptr};
          }};
}

}  // namespace fxjit::program
