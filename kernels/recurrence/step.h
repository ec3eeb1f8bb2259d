// One step of time of a recurrent layer in f32: the product of the states of
// some sequences with packed weights, and what gates do to its sums while they
// are in registers. Plain C++ vectors, compiled once per CPU level.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

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
  const float* packed = nullptr;  // By StepPacking, ahead.
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
  const float* packed = nullptr;  // By StepPacking.
  const float* bias = nullptr;    // Likewise, or null.
  // The product with the inputs: either given, of each row gate by gate ...
  const float* const* gates = nullptr;
  GateOrder order;  // How these gates lie.
  // ... or made before that with the states, of inputs [rows, input_depth].
  const float* inputs = nullptr;
  int64_t input_depth = 0, input_row = 0;
  const float* input_packed = nullptr;  // By StepPacking.
  const float* input_bias = nullptr;    // Likewise, or null.
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

// How weights [gates * units, depth], contiguous, lie for the panels of a step, or
// for what steps make ahead. Biases are weights of one element of the state.
struct StepPacking {
  StepWork work;
  GateOrder order;
  int64_t units, depth;
  CpuLevel level;
  bool ahead = false;

  int64_t floats() const;
  void pack(const float* from, float* to) const;
  StepPacking of_bias() const { return {work, order, units, 1, level}; }
  // Equal for equal bytes of equal weights.
  std::vector<int64_t> key() const;

 private:
  int64_t columns() const;
  void pack_panels(const float* from, float* to) const;
  void pack_columns(const float* from, float* to) const;
};

// What steps have left.
void finish_ahead(InputsAhead& ahead);

void recurrent_step(const RecurrentStep& step, CpuLevel level);

}  // namespace fxjit::kernels
