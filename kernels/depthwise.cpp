#include "kernels/depthwise.h"

#include <algorithm>

namespace fxjit::kernels {
namespace {

// Rows and channels whose input stays in the caches while windows move over it.
constexpr int64_t kBandRows = 16;
constexpr int64_t kBandChannels = 128;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

bool Depthwise::supports(const ops::ConvParams& params, const Tensor& input,
                         const Tensor& weight) {
  const int64_t channels = params.output[1];
  const int at = params.batched ? 1 : 0;
  return !params.transposed && params.groups == channels && channels > 1 &&
         weight.sizes()[0] == channels && weight.sizes()[1] == 1 &&
         input.dtype() == DType::f32 && input.strides()[at] == 1 &&
         numel(params.output) > 0 && input.numel() > 0;
}

Depthwise::Depthwise(const ops::ConvParams& params, const Tensor& input,
                     const Tensor& weight)
    : images_(params.output[0]),
      channels_(params.output[1]),
      image_step_(params.batched ? input.strides()[0] : 0) {
  weight_steps_ = {weight.strides()[0], 0, 0, 0};
  const int first = params.batched ? 2 : 1;
  for (int i = 0; i < params.spatial; ++i) {
    const int at = 3 - params.spatial + i;
    Axis& axis = axes_[at];
    axis.size = input.sizes()[first + i];
    axis.step = input.strides()[first + i];
    axis.places = params.output[2 + i];
    axis.taps = weight.sizes()[2 + i];
    axis.stride = params.stride[i];
    axis.dilation = params.dilation[i];
    axis.pad = params.pad_before[i];
    weight_steps_[1 + at] = weight.strides()[2 + i];
    find_taps(axis);
  }
  const Axis& width = axes_[2];
  whole_first_ = whole_last_ = width.places;
  for (int64_t i = width.places - 1; i >= 0; --i) {
    const TapRange& taps = width.inside[static_cast<size_t>(i)];
    if (taps.last - taps.first < width.taps) continue;
    if (whole_first_ == width.places) whole_last_ = i + 1;
    whole_first_ = i;
  }
}

void Depthwise::find_taps(Axis& axis) {
  axis.inside.clear();
  for (int64_t i = 0; i < axis.places; ++i) {
    const int64_t begin = i * axis.stride - axis.pad;
    TapRange taps;
    taps.first = begin < 0 ? ceil_div(-begin, axis.dilation) : 0;
    taps.first = std::min(taps.first, axis.taps);
    taps.last =
        axis.size > begin ? ceil_div(axis.size - begin, axis.dilation) : 0;
    taps.last = std::clamp(taps.last, taps.first, axis.taps);
    axis.inside.push_back(taps);
  }
}

int64_t Depthwise::taps() const {
  return axes_[0].taps * axes_[1].taps * axes_[2].taps;
}

double Depthwise::flops() const {
  return 2.0 * static_cast<double>(rows() * axes_[2].places * channels_) *
         static_cast<double>(taps());
}

size_t Depthwise::packed_bytes() const {
  return static_cast<size_t>(taps() * channels_) * sizeof(float);
}

ShapeKey Depthwise::packed_key() const {
  constexpr int64_t kForm = -1;  // No other packing starts like this.
  ShapeKey key = {kForm, channels_};
  for (const Axis& axis : axes_) key.push_back(axis.taps);
  for (int64_t step : weight_steps_) key.push_back(step);
  return key;
}

void Depthwise::pack(const float* weight, float* packed) const {
  for (int64_t d = 0; d < axes_[0].taps; ++d)
    for (int64_t h = 0; h < axes_[1].taps; ++h)
      for (int64_t w = 0; w < axes_[2].taps; ++w) {
        const float* from = weight + d * weight_steps_[1] +
                            h * weight_steps_[2] + w * weight_steps_[3];
        for (int64_t c = 0; c < channels_; ++c)
          *packed++ = from[c * weight_steps_[0]];
      }
}

DepthwiseRow Depthwise::row_at(const Data& data, int64_t index) const {
  const Axis &depth = axes_[0], &height = axes_[1], &width = axes_[2];
  const int64_t image = index / (depth.places * height.places);
  const int64_t place[2] = {index / height.places % depth.places,
                            index % height.places};
  DepthwiseRow row{};
  row.input = data.input + image * image_step_ - width.pad * width.step;
  for (int i = 0; i < 2; ++i) {
    const Axis& axis = axes_[i];
    row.input += (place[i] * axis.stride - axis.pad) * axis.step;
    row.taps[i] = axis.inside[static_cast<size_t>(place[i])];
  }
  for (int i = 0; i < 3; ++i) {
    row.kernel[i] = axes_[i].taps;
    row.tap_step[i] = axes_[i].dilation * axes_[i].step;
  }
  row.weight = data.packed;
  row.bias = data.bias;
  row.output = data.output + index * width.places * channels_;
  row.channels = channels_;
  row.columns = width.inside.data();
  row.places = width.places;
  row.place_step = width.stride * width.step;
  row.whole_first = whole_first_;
  row.whole_last = whole_last_;
  row.work = data.work.at(index * width.places);
  return row;
}

void Depthwise::run_band(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t c = 0; c < channels_; c += kBandChannels)
    for (int64_t i = begin; i < end; ++i)
      depthwise_row(row_at(data, i), c, std::min(c + kBandChannels, channels_),
                    data.level);
}

void Depthwise::run(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t i = begin; i < end; i += kBandRows)
    run_band(data, i, std::min(i + kBandRows, end));
}

}  // namespace fxjit::kernels
