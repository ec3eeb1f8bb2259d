// Rows of a product that are windows of an image: the left factor of a
// convolution, which is never written out.
#pragma once

#include <cstdint>

#include "fxjit/dims.h"
#include "src/program/steps/fields.h"

namespace fxjit::program {

// A window of each place of the result, over an image [N, depth, height, width,
// channels] whose channels lie side by side. One row of the product is the
// channels of all taps, tap by tap; taps outside the image count as zeros. Dims
// are those of depth, height and width. Without taps there is no window.
struct RowWindow {
  int64_t channels = 0;
  Dims places;  // Of the result.
  Dims sizes;   // Of the image.
  Dims taps, strides, dilations, pads;
  Dims steps;  // Strides of the image: image, depth, row, column.

  int64_t tap_count() const {
    return taps.empty() ? Size(0) : taps[0] * taps[1] * taps[2];
  }

  friend bool operator==(const RowWindow&, const RowWindow&) = default;
};

template <typename V>
void fields(Is<RowWindow> auto& s, V& v) {
  v("channels", s.channels), v("places", s.places), v("sizes", s.sizes);
  v("taps", s.taps), v("strides", s.strides), v("dilations", s.dilations);
  v("pads", s.pads), v("steps", s.steps);
}

// Stores where the taps of rows [first, first + count) lie, row by row:
// tap_count() addresses of a row. `outside` is `channels` zeros.
void find_rows(const RowWindow& window, const float* image,
               const float* outside, int64_t first, int64_t count,
               const float** addresses);

}  // namespace fxjit::program
