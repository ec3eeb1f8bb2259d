// One step of time of a recurrent layer in f32: the product of the states of
// some sequences with packed weights, and what gates do to its sums while they
// are in registers. Plain C++ vectors, compiled once per CPU level.
#pragma once

#include <array>
#include <cstdint>

#include "fxjit/cpu_level.h"

namespace fxjit::kernels {

// What becomes of the sums. Those of an LSTM and a GRU come as vectors of all
// gates of the same hidden units, others as kPanelVectors vectors of units.
enum class StepWork : uint8_t { lstm, gru, tanh, relu, project };

constexpr int kPanelVectors = 4;
constexpr int vectors_of(StepWork work) {
  return work == StepWork::gru ? 3 : kPanelVectors;
}

// Where each gate of an LSTM or a GRU stands in memory.
struct GateOrder {
  std::array<int64_t, 4> place{0, 1, 2, 3};
};

struct RecurrentStep {
  StepWork work = StepWork::lstm;
  int64_t rows = 0;              // Sequences.
  int64_t depth = 0;             // Of the product: elements of a state.
  int64_t units = 0;             // Hidden units, or columns of a projection.
  const float* state = nullptr;  // [rows, depth]
  int64_t state_row = 0;
  const float* packed = nullptr;  // By pack_step_weights.
  const float* bias = nullptr;    // By pack_step_bias; null only if not a GRU.
  const float* const* gates = nullptr;  // Of each row, gate by gate.
  GateOrder order;                      // Of these gates.
  float* cell = nullptr;                // LSTM: [rows, units], updated.
  int64_t cell_row = 0;
  float* next = nullptr;  // [rows, units], other memory than the states.
  int64_t next_row = 0;
  float* const* output = nullptr;  // Of each row, or null.
  // Weights are read from their end on. If every other step does so, a part of
  // them is still in the caches.
  bool backward = false;
  // Sums in order of depth, one chain each, whatever `rows` are; not backward.
  bool strict = false;
};

// Rows of states, cells and `next` are this long at least, a whole number of
// vectors: behind the units, numbers without meaning are written.
int64_t padded_units(int64_t units, CpuLevel level);

int64_t packed_step_floats(StepWork work, int64_t units, int64_t depth,
                           CpuLevel level);
// weights [gates * units, depth], contiguous.
void pack_step_weights(StepWork work, GateOrder order, int64_t units,
                       int64_t depth, CpuLevel level, const float* weights,
                       float* packed);
// bias [gates * units] or null, which counts as zeros, to as many floats as the
// weights of one element of the state take.
void pack_step_bias(StepWork work, GateOrder order, int64_t units,
                    CpuLevel level, const float* bias, float* packed);

void recurrent_step(const RecurrentStep& step, CpuLevel level);

}  // namespace fxjit::kernels
