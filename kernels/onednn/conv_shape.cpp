#include "kernels/onednn/conv_shape.h"

#include <algorithm>

#include "kernels/onednn/descriptor.h"
#include "src/support/rounding.h"

namespace fxjit::kernels::onednn {
namespace {

using support::ceil_div;
using support::round_up;

// Work that pays for a hand-over between threads, about 20 us.
constexpr double kLeastFlops = 2e6;
// Channels of a slice: whole blocks of any level.
constexpr int64_t kChannelStep = 16;

ConvSlice images(const ConvSlice& from, int64_t first, int64_t count) {
  ConvSlice slice = from;
  slice.shape.input[0] = slice.shape.output[0] = count;
  slice.input += first * from.shape.input_strides[0];
  slice.output += first * from.shape.output_strides[0];
  return slice;
}

// Output channels of an ungrouped convolution: each slice reads all input.
ConvSlice output_channels(const ConvSlice& from, int64_t first, int64_t count) {
  ConvSlice slice = from;
  const int dim = from.shape.transposed ? 1 : 0;
  slice.shape.weight[dim] = slice.shape.output[1] = count;
  slice.weight += first * from.shape.weight_strides[dim];
  slice.bias += first;
  slice.output += first * from.shape.output_strides[1];
  return slice;
}

ConvSlice group_range(const ConvSlice& from, int64_t first, int64_t count) {
  ConvSlice slice = from;
  ConvShape& shape = slice.shape;
  const int64_t in = shape.input[1] / shape.groups;
  const int64_t out = shape.output[1] / shape.groups;
  const int64_t weight = shape.weight[0] / shape.groups;
  shape.groups = count;
  shape.input[1] = count * in;
  shape.output[1] = count * out;
  shape.weight[0] = count * weight;
  slice.input += first * in * shape.input_strides[1];
  slice.weight += first * weight * shape.weight_strides[0];
  slice.bias += first * out;
  slice.output += first * out * shape.output_strides[1];
  return slice;
}

// Rows of a transposed convolution's output: input row i gives those from
// i * stride - pad_before on.
std::optional<ConvSlice> transposed_rows(const ConvSlice& from, int64_t first,
                                         int64_t count) {
  ConvSlice slice = from;
  ConvShape& shape = slice.shape;
  const int64_t stride = shape.stride[0], pad = shape.pad_before[0];
  const int64_t reach = shape.dilation[0] * (shape.weight[2] - 1);
  // The first row must not lie behind the first output, nor the last before
  // the last.
  const int64_t begin = std::max<int64_t>(
      0,
      std::min(ceil_div(first + pad - reach, stride), (first + pad) / stride));
  const int64_t end =
      std::min<int64_t>(shape.input[2], (first + count - 1 + pad) / stride + 1);
  if (begin >= end) return std::nullopt;
  const int64_t before = first + pad - begin * stride;
  const int64_t after = (end - 1 - begin) * stride + reach + 1 - before - count;
  if (before < 0) return std::nullopt;
  shape.pad_before[0] = before;
  shape.pad_after[0] = after;
  shape.input[2] = end - begin;
  shape.output[2] = count;
  slice.input += begin * shape.input_strides[2];
  slice.output += first * shape.output_strides[2];
  return slice;
}

// Rows of the output along the first spatial dim, with the input rows they see.
// Nothing when those are all padding.
std::optional<ConvSlice> rows(const ConvSlice& from, int64_t first,
                              int64_t count) {
  if (from.shape.transposed) return transposed_rows(from, first, count);
  ConvSlice slice = from;
  ConvShape& shape = slice.shape;
  const int64_t begin = first * shape.stride[0] - shape.pad_before[0];
  const int64_t end = (first + count - 1) * shape.stride[0] -
                      shape.pad_before[0] +
                      shape.dilation[0] * (shape.weight[2] - 1) + 1;
  const int64_t inner_begin = std::max<int64_t>(begin, 0);
  const int64_t inner_end = std::min<int64_t>(end, shape.input[2]);
  if (inner_begin >= inner_end) return std::nullopt;
  shape.pad_before[0] = inner_begin - begin;
  shape.pad_after[0] = end - inner_end;
  shape.input[2] = inner_end - inner_begin;
  shape.output[2] = count;
  slice.input += inner_begin * shape.input_strides[2];
  slice.output += first * shape.output_strides[2];
  return slice;
}

// Slices by rows copy each input element between layouts once, slices by
// channels read each weight once.
bool prefers_channels(const ConvShape& shape) {
  constexpr int64_t kManyWeights = 256 << 10;
  return numel(shape.weight) > kManyWeights;
}

using Slices = std::vector<ConvSlice>;

Slices cut_range(const ConvSlice& from, decltype(images)& cut, int64_t total,
                 int64_t pieces, int64_t step) {
  const int64_t each = round_up(ceil_div(total, pieces), step);
  Slices slices;
  for (int64_t at = 0; at < total; at += each)
    slices.push_back(cut(from, at, std::min(each, total - at)));
  return slices;
}

Slices cut_rows(const ConvSlice& image, int64_t pieces) {
  const int64_t total = image.shape.output[2];
  const int64_t each = ceil_div(total, pieces);
  Slices slices;
  for (int64_t at = 0; at < total; at += each) {
    auto slice = rows(image, at, std::min(each, total - at));
    if (!slice) return {image};
    slices.push_back(std::move(*slice));
  }
  return slices;
}

Slices cut_image(const ConvSlice& image, int64_t pieces) {
  const ConvShape& shape = image.shape;
  constexpr int64_t kLeastRows = 4;
  if (pieces < 2) return {image};
  // Parts of the channels are no run of memory there.
  if (shape.gives_channels_last())
    return cut_rows(image, std::min<int64_t>(pieces, shape.output[2]));
  if (shape.depthwise() && shape.groups >= kChannelStep * pieces)
    return cut_range(image, group_range, shape.groups, pieces, kChannelStep);
  if (shape.groups > 1 && shape.groups % pieces == 0)
    return cut_range(image, group_range, shape.groups, pieces, 1);
  const bool by_rows =
      !shape.transposed && shape.output[2] >= kLeastRows * pieces;
  const bool by_channels =
      shape.groups == 1 && shape.output[1] >= kChannelStep * pieces;
  if (by_channels && (!by_rows || prefers_channels(shape)))
    return cut_range(image, output_channels, shape.output[1], pieces,
                     kChannelStep);
  return by_rows ? cut_rows(image, pieces) : Slices{image};
}

}  // namespace

int64_t run_of_places(const Dims& sizes, const Dims& strides) {
  int64_t next = 1;
  for (int d = sizes.size() - 1; d >= 2; --d) {
    if (sizes[d] != 1 && strides[d] != next) return 0;
    next *= sizes[d];
  }
  return next;
}

bool ConvShape::gives_channels_last() const {
  return output_channels() > 1 && output_strides[1] == 1 &&
         numel(output) > output[0] * output_channels();
}

double ConvShape::flops() const {
  // Every weight meets every place of the tensor that the window stands on.
  const Dims& places = transposed ? input : output;
  double total = 2.0 * static_cast<double>(places[0]);
  for (int i = 0; i < spatial(); ++i)
    total *= static_cast<double>(places[2 + i]);
  return total * static_cast<double>(numel(weight));
}

ShapeKey ConvShape::key() const {
  ShapeKey key = {static_cast<int64_t>(dtype), transposed, bias, groups,
                  spatial()};
  for (const Dims* dims :
       {&input, &input_strides, &weight, &weight_strides, &output,
        &output_strides, &stride, &dilation, &pad_before, &pad_after})
    key.insert(key.end(), dims->begin(), dims->end());
  return key;
}

std::optional<ConvShape> conv_shape(const ops::ConvParams& params,
                                    const Tensor& input, const Tensor& weight,
                                    bool bias) {
  ConvShape shape;
  shape.dtype = input.dtype();
  shape.transposed = params.transposed;
  shape.bias = bias;
  shape.groups = params.groups;
  shape.input = input.sizes();
  shape.input_strides = input.strides();
  if (!params.batched && shape.input.size() == params.spatial + 1) {
    shape.input.insert(0, 1);
    shape.input_strides.insert(0, 0);
  }
  shape.weight = weight.sizes();
  shape.output = params.output;
  shape.output_strides = contiguous_strides(params.output);
  shape.stride = params.stride;
  shape.dilation = params.dilation;
  shape.pad_before = params.pad_before;
  shape.pad_after = params.pad_after;
  if (params.transposed)
    for (int i = 0; i < params.spatial; ++i)
      shape.pad_after[i] -= params.output_padding[i];
  const bool empty = numel(shape.input) == 0 || numel(shape.weight) == 0 ||
                     numel(shape.output) == 0;
  if (!data_type(shape.dtype) || empty) return std::nullopt;
  shape.input_strides = tidy_strides(shape.input, shape.input_strides);
  shape.weight_strides = tidy_strides(shape.weight, weight.strides());
  if (!is_dense_view(shape.input, shape.input_strides) ||
      !is_dense_view(shape.weight, shape.weight_strides))
    return std::nullopt;
  return shape;
}

void put_channels_last(ConvShape& shape) {
  int64_t stride = shape.output[1];
  shape.output_strides[1] = 1;
  for (int d = shape.output.size() - 1; d >= 0; --d) {
    if (d == 1) continue;
    shape.output_strides[d] = stride;
    stride *= shape.output[d];
  }
  shape.output_strides = tidy_strides(shape.output, shape.output_strides);
}

std::vector<ConvSlice> cut_conv(const ConvShape& shape, int threads,
                                int64_t least) {
  const ConvSlice whole{shape};
  const int64_t batch = shape.input[0];
  const auto worth = static_cast<int64_t>(shape.flops() / kLeastFlops);
  const int64_t pieces =
      std::max(least, std::clamp<int64_t>(worth, 1, threads));
  // One image after the other stays in cache, where images are large at all.
  if (batch > 1 && batch >= pieces)
    return cut_range(whole, images, batch,
                     std::clamp(worth, std::min(pieces, batch), batch), 1);
  if (pieces == 1) return {whole};
  Slices slices;
  for (int64_t n = 0; n < batch; ++n) {
    const Slices parts =
        cut_image(images(whole, n, 1), ceil_div(pieces, batch));
    slices.insert(slices.end(), parts.begin(), parts.end());
  }
  return slices;
}

}  // namespace fxjit::kernels::onednn
