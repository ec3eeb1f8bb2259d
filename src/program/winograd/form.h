// What a Winograd step's code depends on, and the sizes that are its arguments.
// What planner and code generator must agree on beside
// program/winograd/shape.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/program/tiles/access.h"

namespace fxjit::program {

struct WinogradStep;

// Sizes and strides are arguments, so that the layers of a net share their
// code.
struct WinogradForm : Epilogue {  // Without sizes.
  using Fn = KernelFn;

  int64_t tile = 0;
  DType input = DType::f32;
  int64_t lanes = 0;
  int64_t vectors = 0;  // Of a panel.
  int64_t group = 0;    // Tiles whose sums are in registers at once.
  // Channels summed in one chain where that is less than a vector of them, else
  // 0.
  int64_t short_part = 0;
  bool channel_rest = false;  // Words are no multiple of the lanes.
  bool whole_panels = false;  // There are panels without padding.
  bool last_panel = false;    // There is one with padding, ...
  bool feature_rest = false;  // ... and features in a vector of padding.
  // Weights come from memory: the next ones are fetched during the sums.
  bool fetches_ahead = false;

  bool is_integer() const { return input != DType::f32; }
  int64_t points() const { return tile + 2; }
  int64_t frequencies() const { return points() * points(); }
  int64_t width() const { return lanes * vectors; }
  // As in WinogradShape.
  int64_t slots() const { return frequencies() | 1; }
  int64_t places_row() const { return tile == 4 ? 8 : 4; }
  int64_t tile_floats() const { return slots() * lanes; }
  int64_t sums_floats() const { return slots() * width(); }
};

// Of a step that was analysed; so are its numbers.
WinogradForm winograd_form(const WinogradStep& step);

// Text that is equal for equal forms.
std::string form_key(const WinogradForm& form);

// What the code finds in StepCall::data, in this order, and behind it the
// strides of each extra, then of each output: batch, row.
enum class WinogradNumber : uint8_t {
  height,
  width,
  words,  // Of a pixel's channels.
  out_height,
  out_width,
  pad_top,
  pad_left,
  input_batch,
  input_row,
  input_column,
  tiles,
  groups,
  tile_blocks,
  panels,
  last_features,  // Of the last panel.
  channel_blocks,
  channel_block_floats,
  part_blocks,  // Vectors of channels summed in one chain.
  sums_at,
  zeros_at,
  places_at,
  outside,  // A word of what lies outside of the input.
  count,
};

std::vector<int64_t> winograd_numbers(const WinogradStep& step);

}  // namespace fxjit::program
