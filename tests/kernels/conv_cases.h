// Convolutions that the tests run through the interpreter's kernel and through
// compiled steps: every kind of slice, layout and implementation occurs.
#pragma once

#include <ostream>

#include "fxjit/tensor.h"
#include "fxjit/value.h"

namespace fxjit::kernels::testing {

struct ConvCase {
  const char* name;
  Dims input;   // [N, C, ...] or [C, ...].
  Dims weight;  // As torch has it.
  Dims stride, padding, dilation;
  int64_t groups = 1;
  bool transposed = false;
  Dims output_padding = {};

  int spatial() const { return weight.size() - 2; }
  int64_t output_channels() const {
    return transposed ? weight[1] * groups : weight[0];
  }
  // Arguments of aten.convolution.
  ValueList args(const Value& x, const Value& w, const Value& bias) const {
    const Dims extra =
        output_padding.empty() ? Dims(spatial(), 0) : output_padding;
    return {x, w, bias, stride, padding, dilation, transposed, extra, groups};
  }

  friend std::ostream& operator<<(std::ostream& out, const ConvCase& c) {
    return out << c.name;
  }
};

inline const ConvCase kConvCases[] = {
    {"first", {1, 3, 40, 38}, {32, 3, 7, 7}, {2, 2}, {3, 3}, {1, 1}},
    {"same3x3", {2, 64, 28, 28}, {64, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"one_image", {1, 64, 30, 26}, {96, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"wide_input", {1, 128, 40, 40}, {16, 128, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"strided", {1, 48, 33, 31}, {32, 48, 3, 3}, {2, 2}, {1, 1}, {1, 1}},
    {"uneven", {1, 20, 17, 23}, {50, 20, 5, 3}, {1, 2}, {2, 0}, {1, 1}},
    {"dilated", {1, 32, 24, 24}, {32, 32, 3, 3}, {1, 1}, {2, 2}, {2, 2}},
    {"dilated_strided",
     {1, 16, 29, 29},
     {32, 16, 3, 3},
     {2, 3},
     {3, 1},
     {3, 2}},
    {"small_map", {1, 96, 7, 7}, {128, 96, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"pointwise", {1, 64, 32, 32}, {72, 64, 1, 1}, {1, 1}, {0, 0}, {1, 1}},
    {"pointwise_batch",
     {5, 24, 24, 24},
     {40, 24, 1, 1},
     {1, 1},
     {0, 0},
     {1, 1}},
    {"pointwise_small",
     {1, 160, 7, 7},
     {320, 160, 1, 1},
     {1, 1},
     {0, 0},
     {1, 1}},
    {"pointwise_strided",
     {1, 64, 28, 28},
     {128, 64, 1, 1},
     {2, 2},
     {0, 0},
     {1, 1}},
    {"pointwise_padded",
     {1, 16, 20, 20},
     {32, 16, 1, 1},
     {1, 1},
     {1, 1},
     {1, 1}},
    {"depthwise", {1, 96, 28, 28}, {96, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 96},
    {"depthwise_odd",
     {1, 20, 21, 19},
     {20, 1, 5, 5},
     {2, 2},
     {2, 2},
     {1, 1},
     20},
    {"depthwise_twice",
     {1, 16, 20, 20},
     {32, 1, 3, 3},
     {1, 1},
     {1, 1},
     {1, 1},
     16},
    {"groups", {1, 64, 28, 28}, {64, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 4},
    {"odd_groups", {2, 15, 20, 20}, {9, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 3},
    {"one_channel", {1, 1, 28, 28}, {32, 1, 5, 5}, {1, 1}, {0, 0}, {1, 1}},
    {"tall_pad", {1, 16, 5, 40}, {32, 16, 5, 5}, {1, 1}, {4, 4}, {1, 1}},
    {"batch", {9, 16, 20, 20}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"unbatched", {16, 20, 20}, {32, 16, 3, 3}, {1, 1}, {1, 1}, {1, 1}},
    {"line", {2, 32, 400}, {48, 32, 7}, {2}, {3}, {1}},
    {"line_dilated", {1, 40, 300}, {40, 40, 3}, {1}, {4}, {4}},
    {"line_pointwise", {1, 40, 500}, {64, 40, 1}, {1}, {0}, {1}},
    {"volume",
     {1, 16, 9, 12, 10},
     {32, 16, 3, 3, 3},
     {1, 2, 1},
     {1, 1, 1},
     {1, 1, 1}},
    {"volume_groups",
     {1, 8, 8, 8, 8},
     {8, 1, 3, 3, 3},
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1},
     8},
    {"up", {1, 64, 14, 14}, {64, 32, 4, 4}, {2, 2}, {1, 1}, {1, 1}, 1, true},
    {"up_output_padding",
     {2, 20, 14, 14},
     {20, 10, 3, 3},
     {2, 2},
     {1, 1},
     {1, 1},
     1,
     true,
     {1, 1}},
    {"up_unpadded",
     {1, 24, 15, 13},
     {24, 16, 2, 2},
     {2, 2},
     {0, 0},
     {1, 1},
     1,
     true},
    {"up_more_padding",
     {1, 16, 10, 10},
     {16, 16, 3, 3},
     {3, 3},
     {0, 0},
     {1, 1},
     1,
     true,
     {2, 2}},
    {"up_groups",
     {1, 32, 14, 14},
     {32, 8, 3, 3},
     {2, 2},
     {0, 0},
     {1, 1},
     4,
     true},
    {"up_depthwise",
     {1, 32, 14, 14},
     {32, 1, 4, 4},
     {2, 2},
     {1, 1},
     {1, 1},
     32,
     true},
    {"up_dilated",
     {1, 16, 12, 12},
     {16, 16, 3, 3},
     {2, 2},
     {2, 2},
     {2, 2},
     1,
     true},
    {"up_line", {1, 32, 60}, {32, 16, 5}, {3}, {1}, {1}, 1, true},
    {"up_volume",
     {1, 16, 6, 6, 6},
     {16, 16, 2, 2, 2},
     {2, 2, 2},
     {0, 0, 0},
     {1, 1, 1},
     1,
     true},
};

}  // namespace fxjit::kernels::testing
