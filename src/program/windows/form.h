// What the code of a window step depends on, and the numbers that are its
// arguments beside those of its loops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/passes/lowering/window_combine.h"
#include "src/program/steps/loop_form.h"
#include "src/program/steps/step_code.h"

namespace fxjit::program {

struct WindowStep;

using passes::WindowCombine;

// So few weights stay in registers beside the sums; more are read from memory.
constexpr bool holds_weights(int64_t taps) { return taps <= 9; }

// Sizes and strides are arguments; so is the padding. Outer dims are image,
// channel of the result, depth, row, and columns are the inner one; with
// channels innermost these are the inner dim and stand behind the column.
struct WindowForm {
  using Fn = KernelFn;

  LoopForm loops;
  ScalarBody epilogue;
  WindowCombine combine = WindowCombine::products;
  DType input = DType::f32;
  bool has_bias = false;
  bool packs_weights = false;  // See weights/windows.h.
  Dims taps, strides, dilations;  // Of depth, height and width.
  bool channels_inner = false;
  // With channels innermost: results of a channel. Divides all lanes.
  int64_t multiplier = 1;
  // Results sum all channels of their group. Windows are arguments then, but
  // for a row's stride and, of few taps, for these and their dilation; of many
  // taps [2] is 0.
  bool sums_groups = false;
  // So many groups a vector of results may have, at the most; `spread` is set
  // where they are whole and have as many channels.
  int64_t vector_groups = 1;
  int64_t spread = 0;
  bool mostly_one_group = false;  // Groups have more results than a vector.
  int64_t group_channels = 0;     // 1 if groups have one; else an argument.
  bool dense_channels = false;    // Channels of the input lie side by side, ...
                                  // else columns do.
  // Planes are turned into rows of channels on the way.
  bool has_ring = false;
  int64_t lanes = 0;  // Of the vectors along the inner dim.
  int64_t rows = 1;   // Of results that are computed together.
  // Vectors of each of these rows, likewise; with channels innermost, places.
  int64_t across = 1;
  // At each place of groups whose results are whole vectors.
  int64_t vectors = 1;
  // The inner dim is shorter than a vector.
  bool narrow = false;
  // Sums wait in scratch for the epilogue, which is a loop of its own.
  bool has_strip = false;
  // Images exceed the caches: what follows is fetched.
  bool fetches_ahead = false;

  int64_t tap_count() const { return taps[0] * taps[1] * taps[2]; }
  // Input, weights, bias: operands in front of those of the loops.
  size_t own_operands() const {
    return size_t{1} + (combine == WindowCombine::products) + has_bias;
  }
  // Rows of the input from the first to the last tap.
  int64_t ring_rows() const { return (taps[1] - 1) * dilations[1] + 1; }
};

// Over planes: whether the first column under a window is the last one under
// the window before, so that tiles along a row hand it on. `window` is a form
// or a step.
bool carries_columns(const auto& window) {
  return window.combine != WindowCombine::products && window.strides[2] == 2 &&
         window.taps[2] == 3 && window.dilations[2] == 1;
}

// Of a step that was analysed; so are its numbers.
WindowForm window_form(const WindowStep& step);

// Text that is equal for equal forms.
std::string form_key(const WindowForm& form);

// What the code finds in StepCall::data behind the arguments of its loops.
enum class WindowNumber : uint8_t {
  multiplier,  // Results of a channel.
  depth,       // Sizes of the input.
  height,
  width,
  pad_depth,
  pad_height,
  pad_width,
  image_step,  // Strides of the input, in elements.
  channel_step,
  depth_step,
  row_step,
  column_step,
  row_blocks,     // A plane's tasks ...
  rows_of_block,  // ... are this many rows each, the last one the rest.
  // Places whose vector loads no padding: a multiple of lanes, and the last one
  // at which a vector may begin. Columns that are handed on are no loads.
  first_inside,
  last_inside,
  ring_row,  // Floats of a row of turned planes.
  // Floats of scratch, which begins with zeros for what lies outside the input,
  // and then has the turned rows:
  weights_at,  // weights in the order in which tiles read them, ...
  strip_at,    // and sums that wait.
  outside,     // What lies outside an input of 8 bits.
  // Of windows that sum the channels of groups:
  group_channels,
  weight_block,   // WindowStep::weight_block, ...
  block_vectors,  // ... and the vectors of its results.
  taps_depth,     // The windows.
  taps_height,
  taps_width,
  stride_depth,
  stride_height,
  stride_width,
  dilation_depth,
  dilation_height,
  dilation_width,
  count,
};

std::vector<int64_t> window_numbers(const WindowStep& step);

}  // namespace fxjit::program
