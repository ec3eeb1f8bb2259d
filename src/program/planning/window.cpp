// Regions around a window to steps.
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/image_dims.h"
#include "src/program/planning/region_body.h"
#include "src/program/tiles/operands.h"

namespace fxjit::program {
namespace {

constexpr int kDims = 5;  // Image, channel, depth, height, width.

// Images lack the depth: a dim of one element.
Dims with_depth(const Dims& dims, int64_t lacking) {
  Dims result = dims;
  while (result.size() < 3) result.insert(0, lacking);
  return result;
}

// Sizes or strides of five dims: images lack the one at `depth`.
Dims with_all_dims(const Dims& dims, int depth, int64_t lacking) {
  Dims result = dims;
  while (result.size() < kDims) result.insert(depth, lacking);
  return result;
}

// Where the dim of the depth stands in the result.
int depth_of(const WindowStep& step) { return step.channels_inner ? 1 : 2; }

void add_depth(Access& access, int depth) {
  while (access.outer.size() < kDims - 1) access.outer.insert(depth, 0);
}

// How the input lies under the taps, of which channels may be a dim.
void place_input(const Tensor& input, int64_t results, bool over_channels,
                 WindowStep& step) {
  Dims strides = input.strides();
  step.sizes = with_depth(spatial_of(input.sizes()), 1);
  if (over_channels) {
    step.sizes[0] = input.size(1);
    strides.insert(1, 0);
  }
  step.steps = with_all_dims(strides, 2, 0);
  const int64_t channels = over_channels ? Size(1) : input.size(1);
  step.multiplier = results / channels;
}

// Results sum the channels of groups; weights are [blocks, block, channels,
// taps...].
void set_groups(int64_t groups, const Tensor& weight, WindowStep& step) {
  step.multiplier = step.inner / groups;
  step.group_channels = weight.size(2);
  step.weight_block = weight.size(1);
}

// The filters of groups in the order in which tiles read them.
Tensor in_order_of_groups(const Tensor& weight) {
  Dims sizes, strides;
  const auto add = [&](int dim) {
    sizes.push_back(weight.size(dim));
    strides.push_back(weight.stride(dim));
  };
  const int rank = weight.dim();
  add(0);
  for (int d = 3; d + 1 < rank; ++d) add(d);
  add(2), add(rank - 1), add(1);
  return weight.as_strided(sizes, strides, weight.offset());
}

// Weights that are known are packed, in the order of a step that is whole.
OperandRef weights_of(PlanBuilder& builder, const Placed& weight,
                      WindowStep& step) {
  step.packs_weights = weight.constant.defined();
  if (!step.packs_weights) return weight.ref();
  step.analyse(builder.options().machine);
  const Tensor filters = step.sums_groups()
                             ? in_order_of_groups(weight.constant)
                             : weight.constant;
  return builder.pack_windows({weight, filters}, step.packed_lanes());
}

}  // namespace

bool plan_window(PlanBuilder& builder, const RegionCall& call) {
  const fx::Node* node = find_call_or_null(call, passes::window_op());
  if (!node) return false;
  const Placed& input = call.inputs.at(node->arg_node(0));
  WindowStep step;
  step.channels_inner = node->arg(10).as_bool();
  const Dims out = with_all_dims(node->val_tensor().sizes(), depth_of(step), 1);
  step.combine = static_cast<passes::WindowCombine>(node->arg(3).as_int());
  step.taps = with_depth(node->arg(4).as_dims(), 1);
  step.strides = with_depth(node->arg(5).as_dims(), 1);
  step.pads = with_depth(node->arg(6).as_dims(), 0);
  step.dilations = with_depth(node->arg(8).as_dims(), 1);
  const int dims = input.val.dim() - 2;
  place_input(input.val, out[step.channels_inner ? 4 : 1],
              node->arg(4).as_dims().size() > dims, step);
  step.input = input.val.dtype();
  step.outside = node->arg(11).as_int();
  step.outer = {out[0], out[1], out[2], out[3]};
  step.inner = out[4];
  if (const int64_t groups = node->arg(12).as_int(); groups != 0)
    set_groups(groups, call.inputs.at(node->arg_node(1)).val, step);
  std::vector<OperandRef> refs{input.ref()};
  for (size_t argument : {1, 2}) {
    if (node->arg(argument).is_none()) continue;
    refs.push_back(call.inputs.at(node->arg_node(argument)).ref());
    step.has_bias = argument == 2;
  }
  step.epilogue = bind_epilogue(call, *node, refs, step);
  for (Access& access : step.inputs) add_depth(access, depth_of(step));
  for (Access& access : step.outputs) add_depth(access, depth_of(step));
  if (step.has_weights())
    refs[1] = weights_of(builder, call.inputs.at(node->arg_node(1)), step);
  builder.add_step(std::move(step), std::move(refs), call);
  return true;
}

}  // namespace fxjit::program
