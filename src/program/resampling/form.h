// What the code of a step that resizes images depends on, and the numbers that
// are its arguments beside those of its loops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/program/steps/loop_form.h"
#include "src/program/steps/step_code.h"

namespace fxjit::program {

struct ResampleStep;

// How a vector of columns of one tap is read from a row of a plane: as lanes of
// one vector or of two that lie side by side, or one by one.
enum class ColumnReads : uint8_t { one_vector, two_vectors, gather };

// Sizes and strides are arguments, as the tables are operands.
struct ResampleForm {
  using Fn = KernelFn;

  LoopForm loops;
  ScalarBody epilogue;
  DType dtype = DType::f32;
  bool channels_inner = false;
  int64_t row_taps = 1, column_taps = 0;
  bool row_weights = false, column_weights = false;
  // Rows that are held while one row of the result is made.
  int64_t row_span = 1;
  ColumnReads reads = ColumnReads::one_vector;
  // See ResampleStep: where vectors of the input become whole vectors of the
  // result, else 1.
  int64_t row_factor = 1, column_factor = 1;
  int64_t lanes = 0;    // Of the vectors along the inner dim.
  bool narrow = false;  // The inner dim is shorter than a vector.

  // Operands in front of those of the loops.
  size_t own_operands() const {
    return size_t{2} + row_weights + (column_taps > 0) + column_weights;
  }
  // Whether rows of resized columns wait in the ring: where each is read once,
  // they are made when rows are joined.
  bool has_ring() const {
    return column_taps > 0 && (row_taps > 1 || row_weights);
  }
  // Whether places of columns are turned into lanes of vectors first.
  bool has_table() const {
    return !channels_inner && column_taps > 0 && column_factor == 1 &&
           reads != ColumnReads::gather;
  }
};

// Of a step that was analysed; so are its numbers.
ResampleForm resample_form(const ResampleStep& step);

// Text that is equal for equal forms.
std::string form_key(const ResampleForm& form);

// What the code finds in StepCall::data behind the arguments of its loops.
enum class ResampleNumber : uint8_t {
  height,  // Sizes of the input.
  width,
  image_step,  // Strides of the input, in elements.
  channel_step,
  row_step,
  column_step,
  row_blocks,     // A slice's tasks ...
  rows_of_block,  // ... are this many rows each, the last one the rest.
  channel_blocks,
  channels_of_block,
  ring_row,  // Floats of a row of resized columns; the ring begins the scratch.
  // Bytes of scratch to the numbers of the rows that are in the ring, and, by
  // vector of columns and tap, to the lanes of each and to the first one.
  held_at,
  lanes_at,
  firsts_at,
  count,
};

std::vector<int64_t> resample_numbers(const ResampleStep& step);

}  // namespace fxjit::program
