// One step in time of a recurrent layer in f32: it multiplies the states of
// some sequences by packed weights and applies the cell's functions to the sums
// while they are in registers. Plain C++ vectors, compiled once for each CPU
// level.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"

namespace fxjit::kernels {

// What is done to the sums. For an LSTM or a GRU a panel has the vectors of all
// gates of the same hidden units, for the others kPanelVectors vectors of
// units.
enum class StepWork : uint8_t { lstm, gru, tanh, relu, project };

constexpr int kPanelVectors = 4;
constexpr int vectors_of(StepWork work) {
  return work == StepWork::gru ? 3 : kPanelVectors;
}

// The position of each gate of an LSTM or a GRU in memory.
struct GateOrder {
  std::array<int64_t, 4> place{0, 1, 2, 3};
};

// Sizes of InputProduct::ahead. While one block of kAheadTimes times runs, the
// products with the inputs are made for the next one: one or two elements of an
// input for every kAheadStates elements of a state.
constexpr int kAheadTimes = 16, kAheadStates = 4;

// The product of one block's inputs with their weights, as far as it is made.
// Each panel of each step of the block before makes a part of it.
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

// A row of states in 8 bits, as x = scale * (q - zero) with q from 0 to 255:
// what sums of magnitudes |q - 128|, with signs, lack.
struct StateNumbers {
  float scale = 0;
  int32_t negative = 0;  // The sum of the magnitudes of negative q - 128.
  int32_t shift = 0;     // 128 - zero
  int32_t sum = 0;       // Of q - zero.
};

// Weights of 8 bits: the step quantises each row of states, and sums are exact.
// Without scales, weights are floats.
struct StateIntegers {
  const float* scales = nullptr;  // Of columns; by StepPacking::of_bias().
  const float* zeros = nullptr;   // Likewise, of the weights.
  // Working memory: numbers of each row, and 2 * row bytes of it.
  StateNumbers* numbers = nullptr;
  uint8_t* bytes = nullptr;
  int64_t row = 0;        // padded_units(depth)
  float* sums = nullptr;  // Of the gates, [rows][sums_row].
  int64_t sums_row = 0;  // StepPacking::of_bias().floats(); 4/3 of it for GRUs.
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
  StateIntegers integers;         // No inputs, not `ahead`.
  // The product with the inputs is either given, gate by gate for each row, ...
  const float* const* gates = nullptr;
  GateOrder order;  // How these gates lie.
  // ... or made by the step, before the product with the states, from the
  // inputs [rows, input_depth].
  const float* inputs = nullptr;
  int64_t input_depth = 0, input_row = 0;
  const float* input_packed = nullptr;  // By StepPacking.
  const float* input_bias = nullptr;    // Likewise, or null.
  InputsAhead* ahead = nullptr;         // Or null. One row, AVX-512.
  float* cell = nullptr;                // LSTM: [rows, units], updated.
  int64_t cell_row = 0;
  float* next = nullptr;  // [rows, units], other memory than the states.
  int64_t next_row = 0;
  float* const* output = nullptr;  // One for each row, or null.
  // Reads the weights from their end to their beginning. If every other step
  // does so, it finds a part of them still in the caches.
  bool backward = false;
  // Sums in order of depth, in one chain each, whatever `rows` is. Cannot be
  // combined with `backward`.
  bool strict = false;
};

// The least length of a row of states, cells and `next`, in floats: `units`
// rounded up to whole vectors. Steps write meaningless numbers behind the
// units.
int64_t padded_units(int64_t units, CpuLevel level);

enum class StepNumbers : uint8_t { f32, i8, u8 };

// Packs contiguous weights [gates * units, depth] in the order in which the
// panels of a step read them, or for InputsAhead. Biases are packed like
// weights of depth 1. Weights of 8 bits are packed in quads along the depth,
// each as large as a float, less 128 where they are unsigned; the sums of a
// panel's columns are behind its quads.
struct StepPacking {
  StepWork work;
  GateOrder order;
  int64_t units, depth;
  CpuLevel level;
  bool ahead = false;
  StepNumbers numbers = StepNumbers::f32;

  int64_t floats() const;
  void pack(const void* from, float* to) const;
  StepPacking of_bias() const { return {work, order, units, 1, level}; }
  // Equal keys mean that equal weights are packed into equal bytes.
  std::vector<int64_t> key() const;

 private:
  int64_t columns() const;
  template <typename Fn>
  void each_column(Fn&& column) const;
  void pack_panels(const float* from, float* to) const;
  void pack_columns(const float* from, float* to) const;
  void pack_quads(const int8_t* from, float* to) const;
};

// Makes the rest of the product that the steps have left.
void finish_ahead(InputsAhead& ahead);

void recurrent_step(const RecurrentStep& step, CpuLevel level);

}  // namespace fxjit::kernels
