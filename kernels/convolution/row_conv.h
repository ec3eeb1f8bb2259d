// What the convolutions of this folder have in common whose loops walk along
// rows of places, with channels innermost in the result.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/tensor.h"
#include "kernels/shape_cache.h"
#include "src/ops/eager/convolution.h"
#include "src/program/convolution/axis.h"
#include "src/support/machine/cache_line.h"
#include "src/weights/store.h"

namespace fxjit::kernels {

using program::ConvAxis;
using program::TapRange;

// Cache lines that the next row reads or writes and this row does not. They are
// prefetched between blocks of places.
struct RowAhead {
  static constexpr int64_t kLine = support::kLineFloats;
  struct Lines {
    const float* first = nullptr;
    int64_t count = 0;
    int64_t for_place = 0;
  };
  Lines read, written;

  bool empty() const { return read.count == 0 && written.count == 0; }
  // Prefetches the share of places [begin, end) of this row. Always inlined,
  // because compilers drop calls of a function that only prefetches.
  [[gnu::always_inline]] void ask(int64_t begin, int64_t end) const {
    constexpr int kSecondLevelCache = 2;
    for (const Lines& lines : {read, written}) {
      const int64_t last = std::min(end * lines.for_place, lines.count);
      for (int64_t i = begin * lines.for_place; i < last; ++i)
        __builtin_prefetch(lines.first + i * kLine, 0, kSecondLevelCache);
    }
  }
};

// A row of places whose sums stay in registers. Steps are in floats; dims are
// depth, height, width.
struct ConvRow {
  const float* input;   // Where tap 0 of the first place lies or would lie.
  const float* weight;  // As packed.
  const float* bias;    // One for each channel of the output, or null.
  float* output;        // [places, channels of the output]
  int64_t kernel[3];
  int64_t tap_step[3];
  TapRange taps[2];         // Along depth and height, for the whole row.
  const TapRange* columns;  // Along the width, for each place.
  int64_t places;
  int64_t place_step;  // In the input, from one place to the next.
  TapRange whole;      // Places that see all taps of the width.
  RowAhead ahead;
};

class RowConv {
 public:
  // Tensors may be meta.
  RowConv(const ops::ConvParams& params, const Tensor& input,
          const Tensor& weight);

  struct Data {
    const float* input;
    const float* packed;  // By pack().
    const float* bias;    // Or null.
    float* output;        // [N, ..., channels]
    CpuLevel level = host_cpu_level();
    float* scratch = nullptr;  // scratch_bytes(), aligned to cache lines.
  };
  // Bytes of scratch that run() needs.
  size_t scratch_bytes() const { return 0; }

  // The number of rows of the output, in all images together.
  int64_t rows() const { return images_ * axes_[0].places * axes_[1].places; }
  int64_t row_places() const { return axes_[2].places; }
  int64_t taps() const;
  // Floating-point operations of the whole convolution: each channel of the
  // output is a sum over all taps and `inputs` channels.
  double flops() const;

  // Packs weights as [depth, height, inputs, width, channels].
  size_t packed_bytes() const;
  ShapeKey packed_key() const;
  void pack(const float* weight, float* packed) const;

 protected:
  // Row number `index`, counted through all images. Bias and output begin at
  // `channel`. The result refers to the axes of this object.
  ConvRow row_at(const Data& data, int64_t index, int64_t channel = 0) const;

  // Calls work(index, part) for rows [begin, end) and for each of `parts` parts
  // of their channels, in an order in which caches hold what is read again.
  template <typename Work>
  void each_part(int64_t begin, int64_t end, int64_t parts, Work work) const {
    constexpr int64_t kBandRows = 8;
    const int64_t band = in_cache() ? kBandRows : 1;
    for (int64_t first = begin; first < end; first += band)
      for (int64_t part = 0; part < parts; ++part)
        for (int64_t i = first; i < std::min(first + band, end); ++i)
          work(i, part);
  }
  // The share of part `part` of `parts` in what row `index` prefetches; nothing
  // if caches hold all rows.
  RowAhead ahead_of(const Data& data, int64_t index, int64_t part,
                    int64_t parts) const;

  int64_t images_, image_step_;
  int64_t channels_, inputs_;  // Of the output; of those that each one sums.
  int64_t output_weight_, input_weight_;  // Steps from channel to channel.
  // Depth, height and width; what a convolution lacks has one tap.
  std::array<ConvAxis, 3> axes_;
  TapRange whole_;  // Places of the width that see all taps.

 private:
  // Whether input and output together are so small that a cache holds them.
  bool in_cache() const;
  // Floats.
  int64_t input_row() const { return axes_[2].size * axes_[2].step; }
  int64_t output_row() const { return axes_[2].places * channels_; }
};

}  // namespace fxjit::kernels
