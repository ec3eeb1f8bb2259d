// Windows that move over planes, [N, C, ...] whose columns lie side by side.
#include <algorithm>
#include <vector>

#include "src/ops/eager/pooling.h"
#include "src/passes/channels_last.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"
#include "src/passes/lowering/window_combine.h"

namespace fxjit::passes {
namespace {

Value contiguous(GraphBuilder& b, const Value& x) {
  if (x.is_none() || val_of(x).is_contiguous()) return x;
  return b.call(materialize_op(), {x});
}

// One filter for each result, of a channel of its own.
bool has_own_channels(const ops::ConvParams& params, const Tensor& input,
                      const Tensor& weight) {
  return !params.transposed && params.groups > 1 &&
         params.groups == input.size(1) && weight.size(1) == 1;
}

// Whether the input is images or volumes, in planes whose columns lie side by
// side, and windows have enough places in a row: fewer leave lanes of vectors
// empty.
bool are_planes(const Tensor& input, const Dims& output) {
  constexpr int64_t kLeastColumns = 8;
  return input.dtype() == DType::f32 && input.dim() > 3 &&
         input.stride(-1) == 1 && !is_channels_last(input) &&
         output[output.size() - 1] >= kLeastColumns;
}

// Taps of a convolution, and of pooling.
constexpr int64_t kMostProducts = 25, kMostElements = 49;

// Whether the loops over planes suit the window: elements that are more than
// two apart are gathered, and each tap of a large window is read by itself.
bool suits_planes(const Dims& taps, const Dims& stride, int64_t most_taps) {
  constexpr int64_t kMostStride = 2;
  return numel(taps) > 0 && numel(taps) <= most_taps &&
         stride[stride.size() - 1] <= kMostStride;
}

}  // namespace

Value lower_window(GraphBuilder& b, const ops::ConvParams& params,
                   const ValueList& args) {
  const Tensor input = val_of(args[0]), weight = val_of(args[1]);
  if (!b.options().lowering->plane_windows ||
      !has_own_channels(params, input, weight) ||
      !are_planes(input, params.output))
    return {};
  Dims taps;
  for (int i = 0; i < params.spatial; ++i) taps.push_back(weight.size(2 + i));
  if (!suits_planes(taps, params.stride, kMostProducts)) return {};
  return b.call(
      window_op(),
      {args[0], contiguous(b, args[1]), contiguous(b, args[2]),
       static_cast<int64_t>(WindowCombine::products), taps, params.stride,
       params.pad_before, params.pad_after, params.dilation, params.output});
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

// A number where all windows have one divisor, else a tensor of those of one
// plane.
Value divisor_of(GraphBuilder& b, const ops::PoolParams& params,
                 const Tensor& input) {
  if (params.divisor != 0) return static_cast<double>(params.divisor);
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
    const int64_t reach =
        (params.output[2 + d] - 1) * params.stride[d] +
        (params.kernel[d] - 1) * (params.average ? 1 : params.dilation[d]) + 1;
    result.push_back(
        std::max<int64_t>(0, reach - input.size(2 + d) - params.padding[d]));
  }
  return result;
}

}  // namespace

Value lower_pool_window(GraphBuilder& b, const ops::PoolParams& params,
                        const Value& x) {
  const Tensor input = val_of(x);
  if (!b.options().lowering->plane_windows ||
      !are_planes(input, params.output) ||
      !suits_planes(params.kernel, params.stride, kMostElements))
    return {};
  const Dims ones(params.spatial, 1);
  const WindowCombine combine =
      params.average ? WindowCombine::sums : WindowCombine::maximum;
  const Value sums =
      b.call(window_op(),
             {x, Value(), Value(), static_cast<int64_t>(combine), params.kernel,
              params.stride, params.padding, pad_after(params, input),
              params.average ? ones : params.dilation, params.output});
  if (!params.average) return sums;
  return call(b, "div", {sums, divisor_of(b, params, input)});
}

}  // namespace fxjit::passes
