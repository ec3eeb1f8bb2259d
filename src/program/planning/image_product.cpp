// Regions around a product over an image to steps of tiles.
#include "src/passes/lowering/internal_ops.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/image_dims.h"
#include "src/program/tiles/operands.h"

namespace fxjit::program {
namespace {

// The weight is the left factor, and each image is a matrix of planes.
void plan_plane_product(PlanBuilder& builder, const RegionCall& call,
                        const fx::Node& node) {
  const Placed& image = call.inputs.at(node.arg_node(0));
  const Placed& weight = call.inputs.at(node.arg_node(1));
  const Dims& domain = node.val_tensor().sizes();
  TileStep step;
  step.batch = domain[0];
  step.rows = domain[1];
  step.columns = 1;
  for (int d = 2; d < domain.size(); ++d) step.columns *= domain[d];
  step.depth = weight.val.size(1);
  step.lhs_row = weight.val.stride(0);
  step.rhs_batched = true;
  step.rhs_row = image.val.stride(1);
  step.rhs_batch = image.val.stride(0);
  step.strict = builder.options().strict_sums;
  std::vector<OperandRef> refs{weight.ref(), image.ref()};
  bind_epilogue(call, node, refs, step);
  builder.add_step(std::move(step), std::move(refs), call);
}

constexpr int kSpatial = 3;  // Depth, height, width.

// Lines lack depth and height, images the depth.
Dims three(Dims dims, int64_t lacking) {
  while (dims.size() < kSpatial) dims.insert(0, lacking);
  return dims;
}

RowWindow window_of(const fx::Node& node, const Tensor& image) {
  RowWindow window;
  window.channels = image.size(1);
  window.places = three(spatial_of(node.arg(7).as_dims()), 1);
  window.sizes = three(spatial_of(image.sizes()), 1);
  window.taps = three(node.arg(2).as_dims(), 1);
  window.strides = three(node.arg(3).as_dims(), 1);
  window.pads = three(node.arg(4).as_dims(), 0);
  window.dilations = three(node.arg(6).as_dims(), 1);
  window.steps = three(spatial_of(image.strides()), 0);
  window.steps.insert(0, image.stride(0));
  return window;
}

// Rows are windows of the image, and the weight [taps..., C, O] is packed.
void plan_window_product(PlanBuilder& builder, const RegionCall& call,
                         const fx::Node& node) {
  const Placed& image = call.inputs.at(node.arg_node(0));
  const Placed& weight = call.inputs.at(node.arg_node(1));
  const Dims& domain = node.val_tensor().sizes();
  const Tensor& filter = weight.constant;
  TileStep step;
  step.window = window_of(node, image.val);
  step.columns = domain.back();
  step.rows = node.val_tensor().numel() / domain.back();
  step.depth = step.window.channels * step.window.tap_count();
  step.strict = builder.options().strict_sums;
  const Tensor matrix = filter.as_strided(
      {step.depth, step.columns}, {filter.stride(-2), filter.stride(-1)},
      filter.offset());
  std::vector<OperandRef> refs{image.ref(), builder.pack({{weight, matrix}})};
  bind_epilogue(call, node, refs, step);
  builder.add_step(std::move(step), std::move(refs), call);
}

}  // namespace

bool plan_image_product(PlanBuilder& builder, const RegionCall& call) {
  if (const auto* node = find_call_or_null(call, passes::plane_product_op()))
    plan_plane_product(builder, call, *node);
  else if ((node = find_call_or_null(call, passes::window_product_op())))
    plan_window_product(builder, call, *node);
  else
    return false;
  return true;
}

}  // namespace fxjit::program
