// Where the tensors of a call of fxjit.recurrence stand among its operands.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/ops/table/recurrence.h"
#include "src/tensor/visit.h"

namespace fxjit::kernels {

// Those that are missing are at -1. Lists have one for each direction.
struct Places {
  int64_t gates, weights, biases, hidden, cell, projections, counts,
      input_weights, input_biases, scales, zeros, output;

  explicit Places(const ops::OpCall& call) {
    int64_t next = 0;
    const auto place = [&](size_t argument) {
      const int64_t first = next;
      visit_leaves(call[argument],
                   [&](const Value& leaf) { next += leaf.is_tensor(); });
      return next > first ? first : int64_t{-1};
    };
    gates = place(ops::kGates);
    weights = place(ops::kStateWeights);
    biases = place(ops::kStateBiases);
    hidden = place(ops::kHidden);
    cell = place(ops::kCellState);
    projections = place(ops::kProjections);
    place(ops::kPeepholes);
    const int64_t sizes = place(ops::kBatchSizes);
    counts = std::max(sizes, place(ops::kLengths));
    input_weights = place(ops::kInputWeights);
    input_biases = place(ops::kInputBiases);
    scales = place(ops::kStateScales);
    zeros = place(ops::kStateZeros);
    output = next;
  }
};

}  // namespace fxjit::kernels
