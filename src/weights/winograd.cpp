#include "src/weights/winograd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fxjit/error.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"
#include "src/weights/panels.h"

namespace fxjit::weights {
namespace {

using support::ceil_div;

constexpr int64_t kMaxPoints = 6;

// Transform of a row of three weights: one row of three factors per point.
struct WeightTransform {
  int64_t points;
  double factors[kMaxPoints][3];
};

// x^k / product(x - other points) for each finite point x.
WeightTransform weight_transform(int64_t tile) {
  FXJIT_CHECK(tile == 2 || tile == 4, "winograd: tiles are 2 or 4 pixels wide");
  if (tile == 2)
    return {4, {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}}};
  const double a = std::sqrt(.5), b = std::sqrt(2.0);
  const std::array<double, 5> x{0, a, -a, b, -b};
  WeightTransform transform{6, {}};
  for (size_t i = 0; i < x.size(); ++i) {
    double product = 1;
    for (size_t j = 0; j < x.size(); ++j)
      if (j != i) product *= x[i] - x[j];
    for (int k = 0; k < 3; ++k)
      transform.factors[i][k] = std::pow(x[i], k) / product;
  }
  transform.factors[5][2] = 1;
  return transform;
}

constexpr int64_t kLanes = 4;  // Windows transformed side by side.
using Lanes = std::array<double, kLanes>;

// a += factor * b
void add_scaled(Lanes& a, double factor, const Lanes& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

// All frequencies of the windows of `count` features from `first` and one
// channel, `step` floats apart.
void transform_windows(const WeightTransform& transform,
                       const WinogradWeight<float>& weight, int64_t first,
                       int64_t channel, int64_t count, int64_t step,
                       float* out) {
  const float* window =
      weight.data + first * weight.strides[0] + channel * weight.strides[1];
  Lanes rows[kMaxPoints][3] = {};
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 3; ++x) {
      Lanes loaded{};
      for (int64_t i = 0; i < count; ++i)
        loaded[static_cast<size_t>(i)] =
            window[i * weight.strides[0] + y * weight.strides[2] +
                   x * weight.strides[3]];
      for (int64_t i = 0; i < transform.points; ++i)
        add_scaled(rows[i][x], transform.factors[i][y], loaded);
    }
  for (int64_t i = 0; i < transform.points; ++i)
    for (int64_t j = 0; j < transform.points; ++j) {
      Lanes sums{};
      for (int x = 0; x < 3; ++x)
        add_scaled(sums, transform.factors[j][x], rows[i][x]);
      float* at = out + (i * transform.points + j) * step;
      for (size_t l = 0; l < sums.size(); ++l)
        at[l] = normal_or_zero(static_cast<float>(sums[l]));
    }
}

// Four times the frequencies of a window of bytes, `step` numbers apart.
void transform_bytes(const WinogradWeight<int8_t>& weight, int64_t feature,
                     int64_t channel, int64_t step, int16_t* out) {
  const int8_t* const window =
      weight.data + feature * weight.strides[0] + channel * weight.strides[1];
  // Twice the transform of three numbers.
  const auto twice = [](int a, int b, int c) {
    return std::array<int, 4>{2 * a, a + b + c, a - b + c, 2 * c};
  };
  std::array<std::array<int, 4>, 3> columns;
  for (size_t x = 0; x < columns.size(); ++x) {
    const int8_t* const top =
        window + static_cast<int64_t>(x) * weight.strides[3];
    columns[x] =
        twice(top[0], top[weight.strides[2]], top[2 * weight.strides[2]]);
  }
  for (size_t y = 0; y < 4; ++y)
    for (const int number :
         twice(columns[0][y], columns[1][y], columns[2][y])) {
      *out = static_cast<int16_t>(number);
      out += step;
    }
}

}  // namespace

// Panels of two vectors leave registers for as many tiles as hide the latency
// of sums; three vectors of features make no whole panels of two.
WinogradPanels winograd_panels(int64_t features, int64_t tile, CpuLevel level) {
  WinogradPanels panels;
  panels.lanes = support::vector_lanes(level);
  const int64_t vectors = ceil_div(features, panels.lanes);
  panels.vectors = vectors == 1 ? 1 : vectors % 2 && vectors % 3 == 0 ? 3 : 2;
  panels.panels = ceil_div(vectors, panels.vectors);
  panels.frequencies = (tile + 2) * (tile + 2);
  return panels;
}

int64_t winograd_elements(const WinogradPanels& panels, int64_t words) {
  return panels.panels * panels.width() * panels.frequencies * words;
}

// Channel by channel through a buffer: frequencies lie so far apart, often by a
// power of two, that single floats would fall out of the cache between writes.
void pack_winograd(const WinogradWeight<float>& weight, int64_t tile,
                   CpuLevel level, float* out) {
  const WeightTransform transform = weight_transform(tile);
  const WinogradPanels panels = winograd_panels(weight.features, tile, level);
  const int64_t width = panels.width();
  std::vector<float> row(static_cast<size_t>(panels.frequencies * width));
  for (int64_t p = 0; p < panels.panels; ++p)
    for (int64_t c = 0; c < weight.channels; ++c) {
      for (int64_t lane = 0; lane < width; lane += kLanes) {
        const int64_t first = p * width + lane;
        const int64_t count =
            std::clamp<int64_t>(weight.features - first, 0, kLanes);
        transform_windows(transform, weight, count ? first : 0, c, count, width,
                          row.data() + lane);
      }
      for (int64_t f = 0; f < panels.frequencies; ++f)
        std::copy_n(
            row.data() + f * width, width,
            out + ((p * panels.frequencies + f) * weight.channels + c) * width);
    }
}

void pack_winograd(const WinogradWeight<int8_t>& weight, CpuLevel level,
                   int16_t* out) {
  const WinogradPanels panels = winograd_panels(weight.features, 2, level);
  const int64_t pair = winograd_word_channels(DType::i8);
  const int64_t words = weight.channels / pair;
  const int64_t row = panels.width() * pair;  // A word of all features.
  std::vector<int16_t> made(static_cast<size_t>(panels.frequencies * row));
  for (int64_t p = 0; p < panels.panels; ++p)
    for (int64_t word = 0; word < words; ++word) {
      std::fill(made.begin(), made.end(), int16_t{0});
      const int64_t first = p * panels.width();
      const int64_t count = std::min(panels.width(), weight.features - first);
      for (int64_t n = 0; n < count; ++n)
        for (int64_t i = 0; i < pair; ++i)
          transform_bytes(weight, first + n, word * pair + i, row,
                          made.data() + n * pair + i);
      for (int64_t f = 0; f < panels.frequencies; ++f)
        std::copy_n(made.data() + f * row, row,
                    out + ((p * panels.frequencies + f) * words + word) * row);
    }
}

}  // namespace fxjit::weights
