// Weights of convolutions by Winograd's minimal filtering F(m x m, 3x3), for
// tiles of m = 2 or 4 pixels; how the method goes is said in
// program/winograd/shape.h.
#pragma once

#include <cstdint>

#include "fxjit/cpu_level.h"
#include "fxjit/dtype.h"

namespace fxjit::weights {

// The layout of transformed weights, from sizes and CPU level alone:
// [features / width][frequency][words][width], zeros behind the last feature. A
// word is a channel of f32, or a pair of channels of i16.
struct WinogradPanels {
  int64_t lanes = 0;
  int64_t vectors = 0;  // Vectors of a panel.
  int64_t panels = 0;
  int64_t frequencies = 0;  // (m + 2)^2

  int64_t width() const { return lanes * vectors; }

  friend bool operator==(const WinogradPanels&,
                         const WinogradPanels&) = default;
};

WinogradPanels winograd_panels(int64_t features, int64_t tile, CpuLevel level);
int64_t winograd_elements(const WinogradPanels& panels, int64_t words);

// Channels of a word, by the type of the weight or of what it is multiplied by.
constexpr int64_t winograd_word_channels(DType dtype) {
  return dtype == DType::i8 || dtype == DType::u8 ? 2 : 1;
}

// A weight [features, channels, 3, 3], strides in elements.
template <typename T>
struct WinogradWeight {
  const T* data;
  int64_t features;
  int64_t channels;
  int64_t strides[4];
};

// Transforms in double precision and packs into `out` (winograd_elements).
void pack_winograd(const WinogradWeight<float>& weight, int64_t tile,
                   CpuLevel level, float* out);

// Four times the transform of F(2), which is whole, of an even number of
// channels (twice winograd_elements).
void pack_winograd(const WinogradWeight<int8_t>& weight, CpuLevel level,
                   int16_t* out);

}  // namespace fxjit::weights
