#include "kernels/convolution/narrow_depthwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fxjit::kernels {
namespace {

// Writes the numbers of all channels, then the same again: a pattern.
void repeat(const float* from, int64_t channels, float* to) {
  for (int64_t i = 0, c = 0; i < kNarrowPattern; ++i) {
    to[i] = from[c];
    if (++c == channels) c = 0;
  }
}

}  // namespace

// The bias and extra tensors of one element for each channel, as patterns.
struct NarrowDepthwise::Patterns {
  float bias[kNarrowPattern];
  float extras[PostWork::kMostExtras][kNarrowPattern];

  Patterns(const NarrowDepthwise::Data& data, int64_t channels) {
    if (data.bias) repeat(data.bias, channels, bias);
    for (int i = 0; i < PostWork::kMostExtras; ++i)
      if (data.work.extras[i] && data.work.steps[i] == 0)
        repeat(data.work.extras[i], channels, extras[i]);
  }
};

NarrowDepthwise::NarrowDepthwise(const ops::ConvParams& params,
                                 const Tensor& input, const Tensor& weight,
                                 CpuLevel level)
    : Depthwise(params, input, weight),
      level_(level),
      every_lanes_(channels_) {}

size_t NarrowDepthwise::packed_bytes() const {
  return static_cast<size_t>(taps() * kNarrowPattern + 1) * sizeof(float) +
         Depthwise::packed_bytes();
}

void NarrowDepthwise::pack(const float* weight, float* packed) const {
  float* plain = packed + taps() * kNarrowPattern;
  Depthwise::pack(weight, plain);
  for (int64_t t = 0; t < taps(); ++t)
    repeat(plain + t * channels_, channels_, packed + t * kNarrowPattern);
  float* end = plain + taps() * channels_;
  *end = std::all_of(plain, end, [](float x) { return std::isfinite(x); });
}

void NarrowDepthwise::run_rows(const Data& data, const Patterns& patterns,
                               int64_t image, Rows rows) const {
  const ConvAxis &h = axes_[1], &w = axes_[2];
  const int64_t place = (image * h.places + rows.first) * w.places;
  NarrowBlock block{};
  block.input = data.input + image * image_step_;
  block.lines = h.size;
  block.line = w.size * channels_;
  block.row_step = h.step;
  block.top = rows.first * h.stride - h.pad;
  block.first = -w.pad * channels_;
  block.column = w.dilation * channels_;
  block.across = w.stride;
  block.kernel[0] = h.taps;
  block.kernel[1] = w.taps;
  block.stride = h.stride;
  block.dilation = h.dilation;
  block.lanes = &every_lanes_;
  block.weight = data.packed;
  block.bias = data.bias ? patterns.bias : nullptr;
  block.channels = channels_;
  block.rows = rows.count;
  block.count = w.places * channels_;
  block.whole[0] = whole_.first * channels_;
  block.whole[1] = whole_.last * channels_;
  block.output = data.output + place * channels_;
  block.output_step = block.count;
  block.work = data.work.at(place);
  for (int i = 0; i < PostWork::kMostExtras; ++i)
    if (block.work.steps[i] == 0) block.work.extras[i] = patterns.extras[i];
  narrow_block(block, level_);
}

void NarrowDepthwise::run(const Data& data, int64_t begin, int64_t end) const {
  const float* plain = data.packed + taps() * kNarrowPattern;
  if (plain[taps() * channels_] == 0) {
    // Weights that are not finite must not meet zeros of the padding.
    Data same = data;
    same.packed = plain;
    same.level = level_;
    return Depthwise::run(same, begin, end);
  }
  const Patterns patterns(data, channels_);
  const int64_t rows = axes_[1].places;
  while (begin < end) {
    const int64_t first = begin % rows;
    const int64_t count = std::min(end - begin, rows - first);
    run_rows(data, patterns, begin / rows, {first, count});
    begin += count;
  }
}

}  // namespace fxjit::kernels
