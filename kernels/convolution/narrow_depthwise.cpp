#include "kernels/convolution/narrow_depthwise.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "src/weights/panels.h"

namespace fxjit::kernels {
namespace {

// Rows of the output whose ends are copied at once.
constexpr int64_t kBandRows = 16;
// Rows of the output whose sums are made at once.
constexpr int64_t kBlockRows = 4;
// Most of a first-level cache of 32 KiB.
constexpr int64_t kBufferFloats = 6144;

// Copies of a few floats are made in place, since a call would take longer.
float* put(float* to, const float* from, int64_t count) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    std::memcpy(to + i, from + i, 4 * sizeof(float));
  for (; i < count; ++i) to[i] = from[i];
  return to + count;
}

float* put_zeros(float* to, int64_t count) {
  constexpr float kZeros[4] = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) std::memcpy(to + i, kZeros, sizeof(kZeros));
  for (; i < count; ++i) to[i] = 0;
  return to + count;
}

// Writes the numbers of all channels, then the same again, until `to` is full.
void repeat(const float* from, int64_t channels, float* to, int64_t count) {
  for (int64_t i = 0, c = 0; i < count; ++i) {
    to[i] = from[c];
    if (++c == channels) c = 0;
  }
}

// The bias and extra tensors of one element for each channel, as patterns.
struct Patterns {
  static constexpr int64_t kMost = 32;
  float bias[kMost];
  float extras[PostWork::kMostExtras][kMost];

  Patterns(const NarrowDepthwise::Data& data, int64_t channels) {
    const int64_t floats = narrow_pattern(channels);
    if (data.bias) repeat(data.bias, channels, bias, floats);
    for (int i = 0; i < PostWork::kMostExtras; ++i)
      if (data.work.extras[i] && data.work.steps[i] == 0)
        repeat(data.work.extras[i], channels, extras[i], floats);
  }
};

}  // namespace

// Rows [row, row + rows) of an image, places [place, place + places) of each.
struct NarrowDepthwise::Part {
  const Data& data;
  const Patterns& patterns;
  int64_t image, row, rows;
  int64_t place = 0, places = 0;
};

NarrowDepthwise::NarrowDepthwise(const ops::ConvParams& params,
                                 const Tensor& input, const Tensor& weight,
                                 CpuLevel level)
    : Depthwise(params, input, weight),
      level_(level),
      lanes_(weights::tile_shape(level).lanes),
      pattern_(narrow_pattern(channels_)),
      every_lanes_(channels_) {}

bool NarrowDepthwise::fits(const ops::ConvParams& params, const Tensor& input,
                           const Tensor& weight, CpuLevel level) {
  const int64_t lanes = weights::tile_shape(level).lanes;
  // Below AVX-512, wide windows take longer to read than lanes left empty.
  const bool wide = lanes < 16 && params.stride[1] > 1 && weight.sizes()[3] > 3;
  const int64_t most = wide ? lanes / 2 : lanes;
  // With vectors of eight floats, 9 to 15 channels fill two badly, too.
  const int64_t channels = params.output[1];
  const bool uneven = params.stride[1] == 1 && lanes == 8 &&
                      channels % lanes != 0 && channels < 2 * lanes;
  if (params.spatial != 2 || (channels >= most && !uneven) ||
      params.stride[1] > (lanes > 4 ? 2 : 1))
    return false;
  const NarrowDepthwise made(params, input, weight, level);
  return made.most_places(1) >= std::min(lanes, made.width().places);
}

// What `places` places of the output read of a row of the input.
int64_t NarrowDepthwise::line_floats(int64_t places) const {
  const ConvAxis& w = width();
  return ((places - 1) * w.stride + (w.taps - 1) * w.dilation + 1) * channels_;
}

// How many rows of the input `rows` rows of the output read.
int64_t NarrowDepthwise::lines(int64_t rows) const {
  const ConvAxis& h = height();
  return (rows - 1) * h.stride + (h.taps - 1) * h.dilation + 1;
}

// What the buffer has room for: whole vectors where that is less than a row.
int64_t NarrowDepthwise::most_places(int64_t rows) const {
  const int64_t room = kBufferFloats / lines(rows) - line_floats(1);
  if (room < 0) return 0;
  const int64_t places = 1 + room / (channels_ * width().stride);
  if (places >= width().places) return width().places;
  return places >= lanes_ ? places / lanes_ * lanes_ : places;
}

size_t NarrowDepthwise::scratch_bytes() {
  return kBufferFloats * sizeof(float);
}

size_t NarrowDepthwise::packed_bytes() const {
  return static_cast<size_t>(taps() * pattern_ + 1) * sizeof(float) +
         Depthwise::packed_bytes();
}

void NarrowDepthwise::pack(const float* weight, float* packed) const {
  float* plain = packed + taps() * pattern_;
  Depthwise::pack(weight, plain);
  for (int64_t t = 0; t < taps(); ++t)
    repeat(plain + t * channels_, channels_, packed + t * pattern_, pattern_);
  float* end = plain + taps() * channels_;
  *end = std::all_of(plain, end, [](float x) { return std::isfinite(x); });
}

// What a part's taps read, zero outside of the image.
void NarrowDepthwise::fill(const Part& part, float* to) const {
  const ConvAxis &h = height(), &w = width();
  const int64_t first = part.place * w.stride - w.pad;
  const int64_t places = line_floats(part.places) / channels_;
  const int64_t begin = std::clamp<int64_t>(-first, 0, places);
  const int64_t end = std::clamp<int64_t>(w.size - first, begin, places);
  const float* row = part.data.input + part.image * image_step_ +
                     (part.row * h.stride - h.pad) * h.step + first * w.step;
  for (int64_t q = 0; q < lines(part.rows); ++q, row += h.step) {
    const int64_t at = part.row * h.stride - h.pad + q;
    const bool inside = at >= 0 && at < h.size;
    const int64_t from = inside ? begin : places, until = inside ? end : places;
    to = put_zeros(to, from * channels_);
    const float* next = row + from * w.step;
    if (w.step == channels_)
      to = put(to, next, (until - from) * channels_);
    else
      for (int64_t x = from; x < until; ++x, next += w.step)
        to = put(to, next, channels_);
    to = put_zeros(to, (places - until) * channels_);
  }
}

void NarrowDepthwise::run_part(const Part& part, const float* corner,
                               int64_t row_step) const {
  const ConvAxis &h = height(), &w = width();
  const int64_t place =
      (part.image * h.places + part.row) * w.places + part.place;
  NarrowBlock block{};
  block.input = corner;
  block.row_step = row_step;
  block.column = w.dilation * channels_;
  block.across = w.stride;
  block.kernel[0] = h.taps;
  block.kernel[1] = w.taps;
  block.stride = h.stride;
  block.dilation = h.dilation;
  block.lanes = &every_lanes_;
  block.weight = part.data.packed;
  block.pattern = pattern_;
  block.bias = part.data.bias ? part.patterns.bias : nullptr;
  block.channels = channels_;
  block.rows = part.rows;
  block.count = part.places * channels_;
  block.output = part.data.output + place * channels_;
  block.output_step = w.places * channels_;
  block.work = part.data.work.at(place);
  for (int i = 0; i < PostWork::kMostExtras; ++i)
    if (block.work.steps[i] == 0)
      block.work.extras[i] = part.patterns.extras[i];
  narrow_block(block, level_);
}

// Places up to `last`, read from a copy, as many rows at once as it has room
// for.
void NarrowDepthwise::run_padded(Part part, int64_t last) const {
  float* const buffer = part.data.scratch;
  const int64_t first = part.place, end = part.row + part.rows;
  const int64_t few = std::min(last - first, lanes_);
  for (; part.row < end; part.row += part.rows) {
    part.rows = end - part.row;
    while (part.rows > 1 && most_places(part.rows) < few)
      part.rows -= part.rows > kBlockRows ? kBlockRows : 1;
    const int64_t most = std::max<int64_t>(most_places(part.rows), 1);
    for (part.place = first; part.place < last; part.place += part.places) {
      part.places = std::min(most, last - part.place);
      fill(part, buffer);
      run_part(part, buffer, line_floats(part.places));
    }
  }
}

// Whether the row's windows lie between the image's first and last row.
bool NarrowDepthwise::is_inside(int64_t row) const {
  const int64_t first = row * height().stride - height().pad;
  return first >= 0 && first + lines(1) <= height().size;
}

void NarrowDepthwise::run_band(const Part& band) const {
  const ConvAxis &h = height(), &w = width();
  // At each end a whole vector, whose start windows in the middle leave to it.
  const int64_t few = (lanes_ + channels_ - 1) / channels_;
  const int64_t begin = whole_.first > 0 ? std::max(whole_.first, few) : 0;
  const int64_t end =
      whole_.last < w.places ? std::min(whole_.last, w.places - few) : w.places;
  if (w.step != channels_ || !is_inside(band.row) || end - begin < few)
    return run_padded(band, w.places);
  run_padded(band, begin);
  Part part = band;
  const float* row = band.data.input + band.image * image_step_ +
                     (band.row * h.stride - h.pad) * h.step;
  part.place = begin;
  part.places = end - begin;
  run_part(part, row + (begin * w.stride - w.pad) * w.step, h.step);
  part.place = end;
  run_padded(part, w.places);
}

void NarrowDepthwise::run(const Data& data, int64_t begin, int64_t end) const {
  const float* plain = data.packed + taps() * pattern_;
  if (plain[taps() * channels_] == 0) {
    // Weights that are not finite must not meet written zeros.
    RowConv::Data same = data;
    same.packed = plain;
    same.level = level_;
    return Depthwise::run(same, begin, end);
  }
  const Patterns patterns(data, channels_);
  const int64_t rows = height().places;
  while (begin < end) {
    Part band{data, patterns, begin / rows, begin % rows, 1};
    const int64_t most = std::min({kBandRows, end - begin, rows - band.row});
    const bool inside = is_inside(band.row);
    while (band.rows < most && is_inside(band.row + band.rows) == inside)
      ++band.rows;
    run_band(band);
    begin += band.rows;
  }
}

}  // namespace fxjit::kernels
