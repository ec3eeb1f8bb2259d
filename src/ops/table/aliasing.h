// The one theory of aliasing: for every op of the table, whose memory its
// results are. Whatever moves, merges, drops or replaces calls asks here. It
// says what the storages of torch 2.13 show; tests/ops/aliasing_test.cpp holds
// every row against torch, the interpreter and this theory.
#pragma once

#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

// When results of an op are memory of its arguments.
enum class Aliasing : uint8_t {
  never,      // Results have memory of their own, each tensor for itself.
  always,     // Views of the first tensor.
  places,     // Likewise, at places that are counted from the start of its
              // memory.
  written,    // The first tensor, which the call writes.
  same_type,  // The first tensor if it has the result's type already and no
              // copy is asked for; otherwise never.
  real,       // The first tensor unless it is complex; otherwise never.
  strides,    // A view of the first tensor if its strides allow the result's
              // shape, otherwise never.
  format,     // The first tensor if it lies already as is asked for; otherwise
              // never.
  inactive,   // The first tensor in evaluation or if nothing is dropped;
              // otherwise never.
  each,       // The i-th result is a view of the i-th tensor.
  item,      // Indexing: a view by numbers, slices and new dims; never by index
             // tensors, lists and flags; of a sequence, the items themselves.
  operand,   // einsum: a view of a single operand that nothing is summed of;
             // otherwise never.
  empty,     // diff: the first tensor where it has no elements to subtract,
             // otherwise never.
  together,  // Results have memory of their own, one for all of them.
  composed,  // As the calls say that it is composed of: rows from outside.
};

Aliasing aliasing(const Op& op);

// Whether any call of the op gives memory of an argument as a result.
bool may_alias(const Op& op);

// Whose memory one tensor of a result is.
struct ResultMemory {
  static constexpr int kOwn = -1;       // No other tensor's.
  static constexpr int kTogether = -2;  // That of all such results of the call.
  int argument = kOwn;  // Among the tensors of the arguments, in order.
  // Whether the inferred strides and offset are those in that memory. They are
  // not where an index tensor without dims picks the place.
  bool placed = true;
};

// For each tensor of `result`, in order. Tensors of the call and of its result
// may be meta. The op is not `composed`.
std::vector<ResultMemory> result_memory(const OpCall& call,
                                        const Value& result);

}  // namespace fxjit::ops
