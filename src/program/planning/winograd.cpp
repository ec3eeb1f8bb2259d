// Regions around a Winograd convolution to steps.
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/winograd_tile.h"
#include "src/program/planning/builder.h"
#include "src/program/tiles/operands.h"

namespace fxjit::program {
namespace {

// Integers have one tile. Without fused multiply-adds products are rounded as
// well. Direct sums of few channels are too short to round much; F(2) stays near
// them, F(4) does not.
int64_t tile_of(const WinogradStep& step, CpuLevel level) {
  if (is_integral(step.input)) return 2;
  constexpr int64_t kFewChannels = 32;
  if (level == CpuLevel::sse41 && step.channels < kFewChannels) return 2;
  const int64_t sizes[] = {step.batch, step.out_height, step.out_width,
                           step.channels, step.features};
  return passes::winograd_tile(sizes);
}

}  // namespace

bool plan_winograd(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node* node = find_call_or_null(call, passes::winograd_op());
  if (!node) return false;
  const Placed& input = call.inputs.at(node->arg_node(0));
  const Placed& weight = call.inputs.at(node->arg_node(1));
  const Dims& out = node->val_tensor().sizes();
  const Dims before = node->arg(2).as_dims();
  WinogradStep step;
  step.batch = out[0];
  step.height = input.val.size(1);
  step.width = input.val.size(2);
  step.channels = input.val.size(3);
  step.out_height = out[1];
  step.out_width = out[2];
  step.features = out[3];
  step.pad_top = before[0];
  step.pad_left = before[1];
  step.input_batch = input.val.stride(0);
  step.input_row = input.val.stride(1);
  step.input_column = input.val.stride(2);
  step.input = input.val.dtype();
  step.outside = node->arg(4).as_int();
  step.tile = tile_of(step, builder.level());
  std::vector<OperandRef> refs{input.ref(),
                               builder.pack_winograd(weight, step.tile)};
  bind_epilogue(call, *node, refs, step);
  builder.add_step(std::move(step), std::move(refs), call);
  return true;
}

}  // namespace fxjit::program
