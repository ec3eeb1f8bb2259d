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

// A block of kAheadTimes has its product with the inputs made while the block
// before it runs: one or two elements of an input to kAheadStates of a state.
constexpr int kAheadTimes = 16, kAheadStates = 4;

// The product of the inputs of one block with their weights, as far as it is
// made: steps of one sequence make a part of it for each of their panels.
struct InputsAhead {
  const float* packed = nullptr;  // By pack_input_weights.
  const float* inputs = nullptr;  // [depth][kAheadTimes]
  const float* bias = nullptr;    // [vectors * lanes], or null.
  float* gates = nullptr;         // The result: [kAheadTimes][gates_row]
  int64_t gates_row = 0, depth = 0, vectors = 0;
  int each = 1;        // Elements to kAheadStates: 1 or 2.
  int64_t vector = 0;  // The next vector of gates.
  int64_t done = 0;    // Elements of the depth that it has.
};

struct RecurrentStep {
  StepWork work = StepWork::lstm;
  int64_t rows = 0;              // Sequences.
  int64_t depth = 0;             // The product's: elements of a state.
  int64_t units = 0;             // Hidden units, or columns of a projection.
  const float* state = nullptr;  // [rows, depth]
  int64_t state_row = 0;
  const float* packed = nullptr;  // By pack_step_weights.
  const float* bias = nullptr;    // By pack_step_bias, or null.
  // The product with the inputs: either given, of each row gate by gate ...
  const float* const* gates = nullptr;
  GateOrder order;  // How these gates lie.
  // ... or made before that with the states, of inputs [rows, input_depth].
  const float* inputs = nullptr;
  int64_t input_depth = 0, input_row = 0;
  const float* input_packed = nullptr;  // By pack_step_weights.
  const float* input_bias = nullptr;    // By pack_step_bias, or null.
  InputsAhead* ahead = nullptr;  // Or null. One row, AVX-512.
  float* cell = nullptr;         // LSTM: [rows, units], updated.
  int64_t cell_row = 0;
  float* next = nullptr;  // [rows, units], other memory than the states.
  int64_t next_row = 0;
  float* const* output = nullptr;  // One for each row, or null.
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

// weights [columns, depth], contiguous, to vectors of columns: what
// InputsAhead::packed holds. There are packed_input_floats of them.
int64_t packed_input_floats(int64_t columns, int64_t depth, CpuLevel level);
void pack_input_weights(int64_t columns, int64_t depth, CpuLevel level,
                        const float* weights, float* packed);

// What steps have left.
void finish_ahead(InputsAhead& ahead);

void recurrent_step(const RecurrentStep& step, CpuLevel level);

}  // namespace fxjit::kernels
