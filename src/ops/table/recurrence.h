// Reads calls of fxjit.recurrence: a recurrent layer of any cell, with or
// without the product of its inputs and their weights, and the order in which
// sequences of several lengths are computed. Used by the eager function, by the
// layers of families/recurrent/recurrent.cpp and by the kernels folder.
//
// Gates are numbered in torch's order: input, forget, cell, output for an LSTM;
// reset, update, new for a GRU. In memory they may stand in another order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/op.h"

namespace fxjit::ops {

enum class Cell : uint8_t { lstm, gru, rnn };

// Functions of gates, by ONNX's names.
struct Activation {
  enum class Kind : uint8_t {
    sigmoid,
    tanh,
    relu,
    affine,            // alpha x + beta
    leaky_relu,        // alpha x where x is negative
    thresholded_relu,  // x from alpha on, else 0
    scaled_tanh,       // alpha tanh(beta x)
    hard_sigmoid,      // alpha x + beta within [0, 1]
    elu,               // alpha (e^x - 1) where x is negative
    softsign,          // x / (1 + |x|)
    softplus,          // log(1 + e^x)
  };
  Kind kind = Kind::tanh;
  double alpha = 0, beta = 0;

  bool operator==(const Activation&) const = default;
};

// Places of the arguments of fxjit.recurrence. Lists have one tensor per
// direction; those that may be missing are then empty.
enum RecurrenceArgument : size_t {
  kGates,         // [L, N, gates * H], or [rows, gates * H] if packed. With
                  // input weights: the inputs, of F features each.
  kStateWeights,  // [gates * H, P]; of i8 or u8 with scales of their columns.
  kStateBiases,   // [gates * H] or none
  kHidden,        // [directions, N, P]
  kCellState,     // [directions, N, H], of an LSTM
  kProjections,   // [P, H] or none: P is then not H
  kPeepholes,     // [3 * H] or none: of input, forget, output
  kBatchSizes,    // [L] or None: rows of each time of packed sequences
  kLengths,       // [N] or None: of each sequence
  kCell,          // "lstm", "gru", "rnn"
  kDirection,     // "forward", "reverse", "bidirectional"
  kActivations,   // names, per direction; () for the usual ones
  kAlphas,        // their factors; () or None for the usual ones
  kBetas,
  kClip,               // Bound of what activations get, or None.
  kCoupled,            // The forget gate is 1 less the input gate.
  kLinearBeforeReset,  // GRU: the reset gate multiplies the product.
  kGateOrder,          // Where each gate stands in gates, weights, biases and,
                       // less the cell's, in peepholes; () for torch's order.
  kStrict,             // CompileOptions::strict_sums, for compiled programs.
  kInputWeights,       // [gates * H, F] or none
  kInputBiases,        // [gates * H] or none, of that product
  // [gates * H] or none, of f32: scales and zero points of the columns of
  // weights of 8 bits. The states of a sequence are then quantised at each time
  // as ONNX's DynamicQuantizeLinear does it, by their own least and greatest
  // number, and sums are exact; states that are not finite make gates NaN.
  kStateScales,
  kStateZeros,
};

// Where the product of the inputs and their weights is computed.
enum class InputProduct : uint8_t {
  given,   // The call has it.
  within,  // Each step makes it, as one sum with the product with the states.
  ahead    // Steps make it for some later times, a part in each step.
};

struct Recurrence {
  // Reads a call, checking names, shapes and types; tensors may be meta.
  static Recurrence read(const OpCall& call);

  int64_t gates() const;  // How many the cell has: 4, 3 or 1.
  // Whether all activations are the usual ones of the cell, without further
  // options. Only such layers have fast loops.
  bool is_plain() const;
  const Activation& activation(int64_t direction, int64_t index) const;

  Cell cell = Cell::lstm;
  DType dtype = DType::f32;
  int64_t directions = 1;
  Size length = 0, batch = 0;
  int64_t hidden = 0;    // H
  int64_t width = 0;     // P, of the output; H but for projections.
  int64_t features = 0;  // F, of an input.
  Size rows = 0;         // Rows of gates: L * N, fewer where packed.
  bool packed = false, has_lengths = false;
  bool biased = false, projected = false, peepholed = false;
  bool has_inputs = false, input_biased = false;  // In place of gates.
  bool quantised = false;  // The states, for weights of 8 bits.
  std::array<bool, 2> reversed{};
  std::vector<Activation> activations;  // Per direction.
  double clip = 0;                      // 0: none.
  bool coupled = false, linear_before_reset = true, strict = false;
  std::array<int64_t, 4> place{0, 1, 2, 3};  // In memory, of each gate.
};

// The fastest way for a layer `form` of one sequence or more, with its inputs
// as arguments, on this many threads. `given` stands for a contraction before
// the layer.
InputProduct input_product(const Recurrence& form, CpuLevel level, int threads);

// Sequences sorted by falling length, so that those which still run at a time
// are the first ones.
struct SequenceOrder {
  std::vector<int64_t> sequence;  // Which one stands at each place.
  std::vector<int64_t> length;    // How long that sequence is.
  std::vector<int64_t> start;     // Packed: the first row of each time.

  // How many of the places [begin, end) run at `time`.
  int64_t running(int64_t time, int64_t begin, int64_t end) const;
};

// The order for the batch sizes or lengths in `numbers`; undefined `numbers`
// mean that all sequences are equally long. Throws RuntimeError for numbers
// that do not fit the call.
SequenceOrder order_of(const Recurrence& form, const Tensor& numbers);

}  // namespace fxjit::ops
