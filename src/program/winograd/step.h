// The step of convolutions by transforms, and what is done to their sums.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/scalar_body.h"
#include "src/program/steps/skeleton.h"
#include "src/program/winograd/form.h"
#include "src/program/winograd/shape.h"

namespace fxjit::program {

// A 3x3 convolution of stride 1 over a channels-last image by Winograd's F(m x
// m, 3x3) (see program/winograd/shape.h): out[n, y, x, o] = epilogue(sum of the
// window, extras...). The input has channels contiguous; what lies outside it
// counts as zeros, or for integers as `outside`. The batch of an access is the
// image, its row the pixel, its column the channel. Operands: input, packed
// weights, extras by slot from 1, outputs.
struct WinogradStep : Epilogue {
  int64_t batch = 1;
  int64_t height = 0;  // Of the input.
  int64_t width = 0;
  int64_t channels = 0;  // Their words fill a vector of every CPU level.
  int64_t out_height = 0;
  int64_t out_width = 0;
  int64_t features = 0;  // Channels of the result.
  int64_t pad_top = 0;
  int64_t pad_left = 0;
  int64_t input_batch = 0;  // Strides of the input.
  int64_t input_row = 0;
  int64_t input_column = 0;
  int64_t tile = 4;  // m: 2 or 4; 2 for integers.
  // f32, or integers of 8 bits, whose sums are exact in i32.
  DType input = DType::f32;
  int64_t outside = 0;
  WinogradShape shape;

  using Form = WinogradForm;
  static constexpr const char* kName = "winograd";
  static constexpr bool kWritesAnywhere = false;

  size_t written() const { return outputs.size(); }
  // What transformed channels take: a float each, or 16 bits.
  int64_t words() const {
    return channels / weights::winograd_word_channels(input);
  }
  void analyse(const Machine& machine) {
    shape = winograd_shape(*this, machine.level);
  }
  StepPlan plan(CpuLevel level) const;
  StepFacts facts() const;
  std::vector<InPlacePair> in_place() const;
  StepKernels<Form> kernels(CpuLevel level) const;

  friend bool operator==(const WinogradStep&, const WinogradStep&) = default;
};

template <typename V>
void fields(Is<WinogradStep> auto& s, V& v) {
  v("batch", s.batch), v("height", s.height), v("width", s.width);
  v("channels", s.channels), v("out_height", s.out_height);
  v("out_width", s.out_width), v("features", s.features);
  v("pad_top", s.pad_top), v("pad_left", s.pad_left);
  v("input_batch", s.input_batch), v("input_row", s.input_row);
  v("input_column", s.input_column), v("tile", s.tile);
  v("input", s.input), v("outside", s.outside);
  v("extras", s.extras), v("outputs", s.outputs), v("epilogue", s.epilogue);
  v("shape", s.shape);
}

}  // namespace fxjit::program
