// Windows that move over each channel of [N, C, ...]: over planes, whose
// columns lie side by side, or with channels innermost.
#include <algorithm>
#include <numeric>
#include <vector>

#include "src/ops/eager/pooling.h"
#include "src/passes/channels_last.h"
#include "src/passes/lowering/image_way.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/passes/lowering/window_combine.h"

namespace fxjit::passes {
namespace {

Value contiguous(GraphBuilder& b, const Value& x) {
  if (x.is_none() || val_of(x).is_contiguous()) return x;
  return b.call(materialize_op(), {x});
}

// Loops over channels that lie side by side do better than others by more than
// it takes to lay them so.
Value channels_side_by_side(GraphBuilder& b, const Value& x) {
  return channels_to_front(b, with_last_dim_dense(b, channels_to_back(b, x)));
}

// The weights in the order [taps..., C]. What is known is packed by the
// program.
Value taps_first(GraphBuilder& b, const Value& weight) {
  if (b.constant_of(weight)) return weight;
  const int rank = val_of(weight).dim();
  Dims back, front{rank - 1};
  for (int d = 0; d < rank; ++d) back.push_back((d + 1) % rank);
  for (int d = 1; d < rank; ++d) front.push_back(d - 1);
  const Value turned =
      b.call(materialize_op(), {call(b, "permute", {weight, back})});
  return call(b, "permute", {turned, front});
}

// Those of planes, one filter after the other, likewise.
Value filters_of(GraphBuilder& b, const Value& weight) {
  return b.constant_of(weight) ? weight : contiguous(b, weight);
}

Value products(GraphBuilder& b, const ops::ConvParams& params,
               const ValueList& args, bool channels_inner) {
  const Value weight =
      channels_inner ? taps_first(b, args[1]) : filters_of(b, args[1]);
  const Value sums =
      b.call(window_op(), {args[0], weight, contiguous(b, args[2]),
                           static_cast<int64_t>(WindowCombine::products),
                           taps_of(params, val_of(args[1])), params.stride,
                           params.pad_before, params.pad_after, params.dilation,
                           params.output, channels_inner, 0, 0});
  return channels_inner ? channels_to_front(b, sums) : sums;
}

// The channels are a dim of taps.
Value small_products(GraphBuilder& b, ops::ConvParams params,
                     const ValueList& args) {
  const Tensor weight = val_of(args[1]);
  Dims taps = taps_of(params, weight);
  taps.insert(0, weight.size(1));
  params.stride.insert(0, 1), params.dilation.insert(0, 1);
  params.pad_before.insert(0, 0), params.pad_after.insert(0, 0);
  return b.call(window_op(),
                {args[0], filters_of(b, args[1]), contiguous(b, args[2]),
                 static_cast<int64_t>(WindowCombine::products), taps,
                 params.stride, params.pad_before, params.pad_after,
                 params.dilation, params.output, false, 0, 0});
}

}  // namespace

Value lower_window(GraphBuilder& b, ImageWay way, const ops::ConvParams& params,
                   const ValueList& args) {
  if (way == ImageWay::few_planes) return small_products(b, params, args);
  if (way == ImageWay::filter_planes) return products(b, params, args, false);
  ValueList last = args;
  last[0] = channels_side_by_side(b, args[0]);
  return products(b, params, last, true);
}

namespace {

// What the sum of each window along one dim is divided by.
std::vector<float> divisors(const ops::PoolParams& params, int64_t size,
                            int dim) {
  const int64_t kernel = params.kernel[dim], pad = params.padding[dim];
  std::vector<float> counts;
  for (int64_t i = 0; i < params.output[2 + dim]; ++i) {
    const int64_t begin = i * params.stride[dim] - pad;
    int64_t first = begin, last = std::min(begin + kernel, size + pad);
    if (!params.count_include_pad) {
      first = std::max<int64_t>(first, 0);
      last = std::min(last, size);
    }
    counts.push_back(static_cast<float>(std::max<int64_t>(1, last - first)));
  }
  return counts;
}

// Whether every element of every window counts.
bool has_whole_windows(const ops::PoolParams& params, const Tensor& input) {
  for (int d = 0; d < params.spatial; ++d) {
    const Size pad = params.padding[d];
    const Size end =
        (params.output[2 + d] - 1) * params.stride[d] + params.kernel[d];
    if ((pad != 0 && !params.count_include_pad) ||
        end > input.size(2 + d) + 2 * pad)
      return false;
  }
  return true;
}

// A number where all windows have one divisor, else a tensor of those of one
// plane.
Value divisor_of(GraphBuilder& b, const ops::PoolParams& params,
                 const Tensor& input) {
  if (params.divisor != 0) return static_cast<double>(params.divisor);
  if (has_whole_windows(params, input))
    return static_cast<double>(int64_t{numel(params.kernel)});
  Dims sizes;
  std::vector<float> product{1};
  for (int d = 0; d < params.spatial; ++d) {
    std::vector<float> next;
    const auto along = divisors(params, input.size(2 + d), d);
    for (float outer : product)
      for (float inner : along) next.push_back(outer * inner);
    product = std::move(next);
    sizes.push_back(params.output[2 + d]);
  }
  if (std::ranges::all_of(product, [&](float x) { return x == product[0]; }))
    return static_cast<double>(product[0]);
  const Tensor tensor = Tensor::empty(sizes, DType::f32);
  std::ranges::copy(product, tensor.data_as<float>());
  return b.constant(tensor, true);
}

// Padding behind that makes the windows end with it; none where they end
// before the image does.
Dims pad_after(const ops::PoolParams& params, const Tensor& input) {
  Dims result;
  for (int d = 0; d < params.spatial; ++d) {
    const Size reach = (params.output[2 + d] - 1) * params.stride[d] +
                       (params.kernel[d] - 1) * params.dilation[d] + 1;
    result.push_back(larger(0, reach - input.size(2 + d) - params.padding[d]));
  }
  return result;
}

// The sum or the greatest element of each window.
Value combined(GraphBuilder& b, const ops::PoolParams& params, const Value& x) {
  const Tensor input = val_of(x);
  const ImageWay way =
      pool_way(b, input, params.output, params.kernel, params.stride);
  const GraphBuilder::WayScope scope(b, way);
  const bool planes = way == ImageWay::pool_planes;
  const WindowCombine combine =
      params.average ? WindowCombine::sums : WindowCombine::maximum;
  const Value result = b.call(
      window_op(), {planes ? x : channels_side_by_side(b, x), Value(), Value(),
                    static_cast<int64_t>(combine), params.kernel, params.stride,
                    params.padding, pad_after(params, input), params.dilation,
                    params.output, !planes, 0, 0});
  return planes ? result : channels_to_front(b, result);
}

// Whether the one window along the dim is all of it.
bool is_whole(const ops::PoolParams& params, const Tensor& input, int dim) {
  return params.output[2 + dim] == 1 && params.padding[dim] == 0 &&
         params.kernel[dim] == input.size(2 + dim) && params.dilation[dim] == 1;
}

// The most taps, no more than the code may have, of windows of which others of
// `taps` are made; 1 for none.
int64_t part_of(int64_t taps) {
  if (taps <= kMostElementTaps) return taps;
  int64_t part = 2;
  while (part * part < taps || taps % part != 0) ++part;
  return part <= kMostElementTaps ? part : 1;
}

// The same of windows along dim `dim` alone. More taps than the code may have
// are some windows of fewer taps, as far apart as these reach.
Value combined_along(GraphBuilder& b, ops::PoolParams params, const Value& x,
                     int dim) {
  const Tensor input = val_of(x);
  if (is_whole(params, input, dim))
    return call(b, params.average ? "sum" : "amax", {x, Dims{2 + dim}, true});
  for (int d = 0; d < params.spatial; ++d) {
    if (d == dim) continue;
    params.kernel[d] = params.stride[d] = params.dilation[d] = 1;
    params.padding[d] = 0;
    params.output[2 + d] = input.size(2 + d);
  }
  const int64_t part = part_of(params.kernel[dim]);
  if (part == params.kernel[dim]) return combined(b, params, x);
  ops::PoolParams rest = params;
  rest.kernel[dim] /= part;
  const int64_t apart = part * params.dilation[dim];
  params.kernel[dim] = part;
  params.stride[dim] = std::gcd(int64_t{rest.stride[dim]}, apart);
  rest.stride[dim] /= params.stride[dim];
  rest.dilation[dim] = apart / params.stride[dim];
  rest.padding[dim] = 0;
  params.output[2 + dim] = (rest.output[2 + dim] - 1) * rest.stride[dim] +
                           (rest.kernel[dim] - 1) * rest.dilation[dim] + 1;
  return combined(b, rest, combined(b, params, x));
}

}  // namespace

Value lower_pool_window(GraphBuilder& b, const ops::PoolParams& params,
                        const Value& x) {
  const Tensor input = val_of(x);
  Value result = x;
  if (numel(params.kernel) <= kMostElementTaps) {
    result = combined(b, params, x);
  } else {
    for (int d = 0; d < params.spatial; ++d)
      if (part_of(params.kernel[d]) == 1 && params.kernel[d] > 1 &&
          !is_whole(params, input, d))
        return {};
    for (int d = 0; d < params.spatial; ++d)
      result = combined_along(b, params, result, d);
  }
  if (!params.average) return result;
  return call(b, "div", {result, divisor_of(b, params, input)});
}

}  // namespace fxjit::passes
