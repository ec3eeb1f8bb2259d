// The step of windows that move over images: convolutions of one filter for
// each channel, pooling, and what is done to their sums.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/scalar_body.h"
#include "src/program/steps/skeleton.h"
#include "src/program/windows/form.h"

namespace fxjit::program {

// How a step is cut and what lies in a thread's scratch, in floats.
struct WindowCode {
  int64_t lanes = 0;
  int64_t groups = 1;  // WindowForm::vector_groups.
  int64_t rows = 1;    // As in WindowForm.
  int64_t across = 1;
  int64_t vectors = 1;
  int64_t row_blocks = 1;  // Of a plane or an image.
  int64_t rows_of_block = 1;
  bool has_ring = false;
  bool has_strip = false;
  bool fetches_ahead = false;
  int64_t ring_row = 0, weights_at = 0, strip_at = 0, total = 0;

  friend bool operator==(const WindowCode&, const WindowCode&) = default;
};

// out[n, o, z, y, x] = epilogue(window of in[n, o / multiplier] at z, y, x
// combined with weights[o], plus bias[o]; extras...), all f32 but the epilogue
// and, with channels innermost, an input of 8 bits. What lies outside the input
// counts as `outside`, of a maximum as the least number.
// Over planes, columns of the input lie side by side; the outer dims are n, o,
// z and y, the inner one x, and weights are [o, taps]. With channels innermost
// these lie side by side; the outer dims are n, z, y and x, the inner one o,
// weights [taps, o]. `inputs` are the extras, by slot from 1. Operands: input,
// weights if there are any, bias if there is one, extras, outputs.
// With `group_channels`, results lie side by side and sum so many channels
// each: o / multiplier is the number of their group. Weights are [o / block,
// depth, height, group_channels, width, block]; channels of the input or its
// columns lie side by side. All of this holds of weights that were not packed.
struct WindowStep : Loops {
  WindowCombine combine = WindowCombine::products;
  DType input = DType::f32;
  int64_t outside = 0;
  bool has_bias = false;
  bool channels_inner = false;
  int64_t multiplier = 1;
  int64_t group_channels = 0;  // 0: results have one channel each.
  int64_t weight_block = 0;
  // Weights were packed when they were bound, as packed_lanes() says.
  bool packs_weights = false;
  // Of depth, height and width: the input's sizes, and how windows lie.
  Dims sizes, taps, strides, dilations, pads;
  Dims steps;  // Strides of the input: image, channel, depth, row, column.
  ScalarBody epilogue;  // Slot 0 is the sum.
  WindowCode code;

  using Form = WindowForm;
  static constexpr const char* kName = "window";
  static constexpr bool kWritesAnywhere = true;

  bool has_weights() const { return combine == WindowCombine::products; }
  int64_t tap_count() const { return taps[0] * taps[1] * taps[2]; }
  bool sums_groups() const { return group_channels > 0; }
  // Whether vectors have several groups whose channels are as many as their
  // results and lie like these. Of a step that was analysed.
  bool is_spread() const {
    return code.groups > 1 && group_channels == multiplier &&
           has_dense_channels() && code.lanes % multiplier == 0;
  }
  // weights::WindowLayout::lanes. Of a step that was analysed.
  int64_t packed_lanes() const {
    return !sums_groups() && (channels_inner || code.has_ring) ? code.lanes : 0;
  }
  bool has_dense_channels() const { return steps[1] == 1; }
  // Products that a result is made of.
  int64_t depth() const {
    return tap_count() * (sums_groups() ? group_channels : 1);
  }
  // Sizes of the result.
  int64_t channels() const { return channels_inner ? Size(inner) : outer[1]; }
  int64_t rows() const { return outer[channels_inner ? 2 : 3]; }
  int64_t columns() const { return channels_inner ? outer[3] : Size(inner); }
  // Planes, some of them that are turned together, or slices of images: what is
  // cut into blocks of rows. Of a step that was analysed.
  int64_t slices() const;
  size_t written() const { return outputs.size(); }
  void analyse(const Machine& machine);
  StepPlan plan(CpuLevel level) const;
  StepFacts facts() const;
  // None: vectors at the end of a row overlap, and compute results again.
  std::vector<InPlacePair> in_place() const { return {}; }
  StepKernels<Form> kernels(CpuLevel level) const;

  friend bool operator==(const WindowStep&, const WindowStep&) = default;
};

template <typename V>
void fields(Is<WindowCode> auto& s, V& v) {
  v("lanes", s.lanes), v("groups", s.groups);
  v("rows", s.rows), v("across", s.across), v("vectors", s.vectors);
  v("row_blocks", s.row_blocks), v("rows_of_block", s.rows_of_block);
  v("has_ring", s.has_ring), v("has_strip", s.has_strip);
  v("fetches_ahead", s.fetches_ahead), v("ring_row", s.ring_row);
  v("weights_at", s.weights_at), v("strip_at", s.strip_at);
  v("total", s.total);
}
template <typename V>
void fields(Is<WindowStep> auto& s, V& v) {
  v("outer", s.outer), v("inner", s.inner), v("combine", s.combine);
  v("input", s.input), v("outside", s.outside);
  v("has_bias", s.has_bias), v("channels_inner", s.channels_inner);
  v("multiplier", s.multiplier), v("group_channels", s.group_channels);
  v("weight_block", s.weight_block), v("packs_weights", s.packs_weights);
  v("sizes", s.sizes), v("taps", s.taps), v("strides", s.strides);
  v("dilations", s.dilations), v("pads", s.pads), v("steps", s.steps);
  v("inputs", s.inputs), v("outputs", s.outputs), v("epilogue", s.epilogue);
  v("code", s.code);
}

}  // namespace fxjit::program
