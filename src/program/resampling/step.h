// The step that resizes images: each element of the result is a weighted sum of
// some rows and columns of the input, whose places and weights are tables.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/scalar_body.h"
#include "src/program/resampling/form.h"
#include "src/program/steps/skeleton.h"

namespace fxjit::program {

// How a step is cut and what lies in a thread's scratch.
struct ResampleCode {
  int64_t lanes = 0;
  ColumnReads reads = ColumnReads::one_vector;
  int64_t row_blocks = 1;  // Of a plane, or of an image's block of channels.
  int64_t rows_of_block = 1;
  int64_t channel_blocks = 1;
  int64_t channels_of_block = 0;
  int64_t ring_row = 0;                                         // Floats.
  int64_t held_at = 0, lanes_at = 0, firsts_at = 0, total = 0;  // Bytes.

  friend bool operator==(const ResampleCode&, const ResampleCode&) = default;
};

// out[n, c, y, x] = epilogue(sum over i, j of row_weights[i, y] *
// column_weights[j, x] * in[n, c, row_places[i, y], column_places[j, x]];
// extras...), sums in f32. Over planes columns of the input lie side by side;
// the outer dims are n, c and y, the inner one x. With channels innermost these
// lie side by side; the outer dims are n, y and x, the inner one c. Places are
// i32 and inside the input. Without column taps column x is that of the input;
// without weights there is one tap. `inputs` are the extras, by slot from 1.
// Operands: input, row places, row weights, column places, column weights,
// those that there are; extras, outputs.
struct ResampleStep : Loops {
  DType dtype = DType::f32;  // Of the input: f32, f16 or bf16.
  bool channels_inner = false;
  Dims sizes;  // Height and width of the input.
  Dims steps;  // Strides of the input: image, channel, row, column.
  int64_t row_taps = 1, column_taps = 0;
  bool row_weights = false, column_weights = false;
  // The most rows of the input from the first to the last that one row of the
  // result reads, and columns likewise that a vector of columns reads by one
  // tap.
  int64_t row_span = 1, column_span = 1;
  // Where greater than 1, each row of the input, and each column, is so many of
  // the result that lie side by side, and there is one tap without weights.
  int64_t row_factor = 1, column_factor = 1;
  ScalarBody epilogue;  // Slot 0 is the sum.
  ResampleCode code;

  using Form = ResampleForm;
  static constexpr const char* kName = "resample";
  static constexpr bool kWritesAnywhere = true;

  // Sizes of the result.
  int64_t channels() const { return channels_inner ? Size(inner) : outer[1]; }
  int64_t rows() const { return outer[channels_inner ? 1 : 2]; }
  int64_t columns() const { return channels_inner ? outer[2] : Size(inner); }
  // Whether vectors of the input become whole vectors of the result: over
  // planes, of columns that are picked by a factor. Of a step that was
  // analysed.
  bool spreads_vectors() const;
  // What is cut into blocks of rows. Of a step that was analysed.
  int64_t slices() const;
  size_t written() const { return outputs.size(); }
  void analyse(const Machine& machine);
  StepPlan plan(CpuLevel level) const;
  StepFacts facts() const;
  // None: vectors at the end of a row overlap, and compute results again.
  std::vector<InPlacePair> in_place() const { return {}; }
  StepKernels<Form> kernels(CpuLevel level) const;

  friend bool operator==(const ResampleStep&, const ResampleStep&) = default;
};

template <typename V>
void fields(Is<ResampleCode> auto& s, V& v) {
  v("lanes", s.lanes), v("reads", s.reads), v("row_blocks", s.row_blocks);
  v("rows_of_block", s.rows_of_block), v("channel_blocks", s.channel_blocks);
  v("channels_of_block", s.channels_of_block), v("ring_row", s.ring_row);
  v("held_at", s.held_at), v("lanes_at", s.lanes_at);
  v("firsts_at", s.firsts_at), v("total", s.total);
}
template <typename V>
void fields(Is<ResampleStep> auto& s, V& v) {
  v("outer", s.outer), v("inner", s.inner), v("dtype", s.dtype);
  v("channels_inner", s.channels_inner), v("sizes", s.sizes);
  v("steps", s.steps), v("row_taps", s.row_taps);
  v("column_taps", s.column_taps), v("row_weights", s.row_weights);
  v("column_weights", s.column_weights), v("row_span", s.row_span);
  v("column_span", s.column_span), v("row_factor", s.row_factor);
  v("column_factor", s.column_factor), v("inputs", s.inputs);
  v("outputs", s.outputs), v("epilogue", s.epilogue), v("code", s.code);
}

}  // namespace fxjit::program
