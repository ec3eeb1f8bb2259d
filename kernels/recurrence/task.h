// All steps in time of one direction of a recurrent layer, for some sequences.
// It knows which sequences run at each time, where their gates or inputs and
// their outputs lie, and what becomes of their states.
#pragma once

#include <cstdint>

#include "kernels/recurrence/step.h"
#include "kernels/recurrence/task_inputs.h"
#include "src/ops/table/recurrence.h"

namespace fxjit::kernels {

// Strides of one direction's gates or inputs, in floats.
struct GateStrides {
  int64_t time, sequence, element;
};

// The task of the sequences at positions [first, first + count) of an order.
struct RecurrentTask {
  void run();

  const ops::Recurrence& form;
  const ops::SequenceOrder& order;
  int64_t direction, first, count;
  GateStrides gates_strides;
  const float *gates, *hidden, *cell_state;  // For all sequences.
  float *output, *last_hidden, *last_cell;   // Likewise.
  float *cells, *made;  // Working memory: rows of `row` floats; see `project`.
  int64_t row;
  const float** gate_rows;  // Working memory: an address for each sequence.
  float** output_rows;
  // What each step does, with sizes and weights set, and two buffers for
  // states. `project` is the second product of a layer with projections; it
  // takes the states that `step` has made.
  RecurrentStep step, project;
  TaskInputs inputs;
  CpuLevel level;

 private:
  int64_t sequence(int64_t n) const;
  int64_t time_of(int64_t step) const;
  const float* gates_at(int64_t time, int64_t n) const;
  float* output_at(int64_t time, int64_t n) const;
  void load_states();
  void store_hidden(int64_t begin, int64_t end) const;
  void store_cells() const;
  void clear_behind(int64_t time, int64_t running) const;
  void begin_block(int64_t first);
  void set_inputs(int64_t index, int64_t running);
  void run_step(int64_t time, int64_t running);
};

}  // namespace fxjit::kernels
