// Convolutions that are no kernel's: those of half types where there is no fast
// code for them, and depthwise ones over lines.
#include "src/ops/conv_kernel.h"
#include "src/passes/lower.h"
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
// of the padded input, one for each k, so that lines are read along i.
Value depthwise_line(GraphBuilder& b, const ops::ConvParams& params,
                     const ValueList& args) {
  Value x = params.batched ? args[0] : call(b, "unsqueeze", {args[0], 0});
  if (params.pad_before[0] > 0 || params.pad_after[0] > 0)
    x = call(b, "constant_pad_nd",
             {x, Dims{params.pad_before[0], params.pad_after[0]}, 0.0});
  const Tensor line = val_of(x), weight = val_of(args[1]);
  const Dims sizes{weight.sizes()[2], params.output[0], params.output[1],
                   params.output[2]};
  const Dims strides{params.dilation[0] * line.stride(2), line.stride(0),
                     line.stride(1), params.stride[0] * line.stride(2)};
  const Value windows =
      call(b, "as_strided", {x, sizes, strides, line.offset()});
  const Value factors =
      call(b, "unsqueeze", {call(b, "permute", {args[1], Dims{2, 1, 0}}), 3});
  Value result = call(b, "sum", {call(b, "mul", {windows, factors}), 0});
  if (!args[2].is_none())
    result = call(b, "add", {result, call(b, "unsqueeze", {args[2], 1})});
  return params.batched ? result : call(b, "squeeze", {result, 0});
}

}  // namespace

Value lower_convolution(GraphBuilder& b, const ops::Op& op,
                        const ValueList& args) {
  ValueList metas, wide;
  for (const Value& arg : args) metas.push_back(meta_of(arg));
  const ops::ConvParams params = ops::conv_params({op, metas});
  if (numel(params.output) == 0) return {};
  const DType dtype = val_of(args[0]).dtype();
  if (dtype == DType::f32 && all_of_type(args, dtype) &&
      is_depthwise_line(params, val_of(args[1])))
    return depthwise_line(b, params, args);
  if (compute_dtype(dtype) == dtype || !all_of_type(args, dtype)) return {};
  if (b.options().has_kernel && b.options().has_kernel(op, metas)) return {};
  for (const Value& arg : args)
    wide.push_back(arg.is_proxy() ? call(b, "cast", {arg, DType::f32}) : arg);
  return call(b, "cast", {b.call(op, wide), dtype});
}

}  // namespace fxjit::passes
