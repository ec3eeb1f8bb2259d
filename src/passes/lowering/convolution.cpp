// Convolutions of f32 give channels last; those of half types are f32's where
// there is no fast code for them.
#include "src/ops/eager/conv_kernel.h"
#include "src/passes/channels_last.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/tensor/visit.h"

namespace fxjit::passes {
namespace {

bool all_of_type(const ValueList& args, DType dtype) {
  for (const Value& arg : args)
    if (arg.is_proxy() && val_of(arg).dtype() != dtype) return false;
  return true;
}

// One filter for each channel of [N, C, L].
bool is_depthwise_line(const ops::ConvParams& params, const Tensor& weight) {
  return params.spatial == 1 && !params.transposed &&
         params.groups == weight.sizes()[0] && weight.sizes()[1] == 1;
}

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
bool is_pointwise(const ops::ConvParams& params, const Tensor& weight) {
  if (params.transposed || params.groups != 1) return false;
  for (int i = 0; i < params.spatial; ++i)
    if (weight.sizes()[2 + i] != 1 || params.pad_before[i] != 0 ||
        params.pad_after[i] != 0)
      return false;
  return true;
}

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
  return call(b, "linear", {channels_to_back(b, x), weight, args[2]});
}

Value conv_last(GraphBuilder& b, const ops::ConvParams& params,
                const ValueList& args) {
  return b.call(conv_last_op(),
                {args[0], args[1], args[2], params.stride, params.pad_before,
                 params.pad_after, params.dilation, params.transposed,
                 params.output_padding, params.groups});
}

// Input with its batch dim; a bias is a tensor or none.
Value f32_convolution(GraphBuilder& b, const ops::ConvParams& params,
                      const ValueList& args) {
  if (is_depthwise_line(params, val_of(args[1])))
    return depthwise_line(b, params, args);
  if (const Value line = lower_line_windows(b, params, args); !line.is_none())
    return line;
  if (Value sums = lower_winograd(b, params, args[0], args[1]);
      !sums.is_none()) {
    if (!args[2].is_none()) sums = call(b, "add", {sums, args[2]});
    return channels_to_front(b, sums);
  }
  return channels_to_front(b, is_pointwise(params, val_of(args[1]))
                                  ? pointwise(b, params, args)
                                  : conv_last(b, params, args));
}

}  // namespace

Value lower_convolution(GraphBuilder& b, const ops::Op& op,
                        const ValueList& args) {
  ValueList metas, wide;
  for (const Value& arg : args) metas.push_back(meta_of(arg));
  const ops::ConvParams params = ops::conv_params({op, metas});
  if (numel(params.output) == 0) return {};
  const DType dtype = val_of(args[0]).dtype();
  if (dtype == DType::f32 && all_of_type(args, dtype)) {
    ValueList batched = args;
    if (!params.batched) batched[0] = call(b, "unsqueeze", {args[0], 0});
    const Value result = f32_convolution(b, params, batched);
    return params.batched ? result : call(b, "squeeze", {result, 0});
  }
  if (compute_dtype(dtype) == dtype || !all_of_type(args, dtype)) return {};
  if (b.options().lowering->halves.has(dtype)) return {};
  for (const Value& arg : args)
    wide.push_back(arg.is_proxy() ? call(b, "cast", {arg, DType::f32}) : arg);
  return call(b, "cast", {b.call(op, wide), dtype});
}

}  // namespace fxjit::passes
