// Convolutions of f32 give channels last; those of half types are f32's where
// there is no fast code for them.
#include "src/ops/eager/convolution.h"
#include "src/passes/channels_last.h"
#include "src/passes/lowering/image_way.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {
namespace {

// sum over k of weight[c, k] * padded[n, c, i * stride + k * dilation]: views
// of the padded input, one for each k, so that memory is read in its order.
Value depthwise_line(GraphBuilder& b, const ops::ConvParams& params,
                     const ValueList& args) {
  Value x = args[0];
  if (params.pad_before[0] > 0 || params.pad_after[0] > 0)
    x = call(b, "constant_pad_nd",
             {x, Dims{params.pad_before[0], params.pad_after[0]}, 0.0});
  const Tensor line = val_of(x);
  const Dims sizes{val_of(args[1]).sizes()[2], params.output[0],
                   params.output[1], params.output[2]};
  const Dims strides{params.dilation[0] * line.stride(2), line.stride(0),
                     line.stride(1), params.stride[0] * line.stride(2)};
  Value windows = call(b, "as_strided", {x, sizes, strides, line.offset()});
  Value factors =
      call(b, "unsqueeze", {call(b, "permute", {args[1], Dims{2, 1, 0}}), 3});
  const bool last = is_channels_last(line);
  if (last) {
    windows = call(b, "transpose", {windows, 2, 3});
    factors = b.call(materialize_op(), {call(b, "transpose", {factors, 2, 3})});
  }
  Value result = call(b, "sum", {call(b, "mul", {windows, factors}), 0});
  if (last) result = channels_to_front(b, result);
  if (args[2].is_none()) return result;
  return call(b, "add", {result, call(b, "unsqueeze", {args[2], 1})});
}

// A product of each place's channels with the weights.
Value pointwise(GraphBuilder& b, const ops::ConvParams& params,
                const ValueList& args) {
  Value x = args[0];
  for (int i = 0; i < params.spatial; ++i)
    if (params.stride[i] != 1)
      x = call(b, "slice",
               {x, 2 + i, 0, val_of(x).sizes()[2 + i], params.stride[i]});
  Value weight = args[1];
  for (int i = 0; i < params.spatial; ++i)
    weight = call(b, "squeeze", {weight, -1});
  // Planes become channels last here, as for every convolution: a product over
  // planes would leave them planes.
  x = with_last_dim_dense(b, channels_to_back(b, x));
  return call(b, "linear", {x, weight, args[2]});
}

Value conv_last(GraphBuilder& b, const ops::ConvParams& params,
                const ValueList& args) {
  return b.call(conv_last_op(),
                {args[0], args[1], args[2], params.stride, params.pad_before,
                 params.pad_after, params.dilation, params.transposed,
                 params.output_padding, params.groups});
}

// A dim of one element under windows of one element, along which nothing moves;
// -1 for none, or where no other dim would be left.
int thin_dim(const ops::ConvParams& params, const Tensor& input,
             const Tensor& weight) {
  for (int i = 0; params.spatial > 1 && i < params.spatial; ++i)
    if (input.size(2 + i) == 1 && weight.size(2 + i) == 1 &&
        params.output[2 + i] == 1 && params.pad_before[i] == 0)
      return i;
  return -1;
}

ops::ConvParams without_dim(ops::ConvParams params, int dim) {
  for (Dims* dims : {&params.stride, &params.dilation, &params.pad_before,
                     &params.pad_after})
    dims->erase(dim);
  if (params.transposed) params.output_padding.erase(dim);
  params.output.erase(2 + dim);
  --params.spatial;
  return params;
}

// The convolution over the other dims alone.
Value without_thin_dim(GraphBuilder& b, const ops::ConvParams& params,
                       ValueList args, int dim) {
  for (int i : {0, 1}) args[i] = call(b, "squeeze", {args[i], 2 + dim});
  return call(
      b, "unsqueeze",
      {lower_f32_convolution(b, without_dim(params, dim), args), 2 + dim});
}

Value winograd(GraphBuilder& b, const ops::ConvParams& params,
               const ValueList& args) {
  const Value sums = lower_winograd(b, params, args[0], args[1]);
  const Value& bias = args[2];
  return channels_to_front(
      b, bias.is_none() ? sums : call(b, "add", {sums, bias}));
}

Value made_by(GraphBuilder& b, ImageWay way, const ops::ConvParams& params,
              const ValueList& args) {
  switch (way) {
    case ImageWay::by_turns:
      return lower_transposed(b, params, args);
    case ImageWay::few_planes:
    case ImageWay::filter_planes:
    case ImageWay::filter_channels:
      return lower_window(b, way, params, args);
    case ImageWay::line_rows:
      return lower_line_windows(b, params, args);
    case ImageWay::shifted_views:
      return depthwise_line(b, params, args);
    case ImageWay::element_planes:
      return lower_plane_product(b, params, args);
    case ImageWay::element_channels:
      return channels_to_front(b, pointwise(b, params, args));
    case ImageWay::winograd:
      return winograd(b, params, args);
    case ImageWay::narrow_groups:
    case ImageWay::narrow_image:
      return lower_group_window(b, params, args);
    case ImageWay::window_rows:
      if (const Value sums = lower_window_product(b, params, args);
          !sums.is_none())
        return channels_to_front(b, sums);
      break;
    default:
      break;
  }
  const GraphBuilder::WayScope scope(
      b, way == ImageWay::window_rows ? ImageWay::changing_weights : way);
  return channels_to_front(b, conv_last(b, params, args));
}

}  // namespace

Value lower_f32_convolution(GraphBuilder& b, const ops::ConvParams& params,
                            const ValueList& args) {
  if (const int dim = thin_dim(params, val_of(args[0]), val_of(args[1]));
      dim >= 0)
    return without_thin_dim(b, params, args, dim);
  const ImageWay way = conv_way(b, params, args);
  const GraphBuilder::WayScope scope(b, way);
  return made_by(b, way, params, args);
}

Value lower_convolution(GraphBuilder& b, const ops::Op& op,
                        const ValueList& args) {
  const ops::ConvParams params = ops::conv_params({op, meta_of(args)});
  if (numel(params.output) == 0) return {};
  const DType dtype = val_of(args[0]).dtype();
  if (dtype == DType::f32 && all_of_type(args, dtype)) {
    ValueList batched = args;
    if (!params.batched) batched[0] = call(b, "unsqueeze", {args[0], 0});
    const Value result = lower_f32_convolution(b, params, batched);
    return params.batched ? result : call(b, "squeeze", {result, 0});
  }
  if (compute_dtype(dtype) == dtype || !all_of_type(args, dtype)) return {};
  if (b.options().lowering->halves.has(dtype)) return {};
  ValueList wide;
  for (const Value& arg : args)
    wide.push_back(arg.is_proxy() ? call(b, "cast", {arg, DType::f32}) : arg);
  return call(b, "cast", {b.call(op, wide), dtype});
}

}  // namespace fxjit::passes
