// Says for every op of the table whose memory its results are. This is the only
// place that knows it; passes that move, merge, drop or replace calls ask here.
// The rules are those of torch 2.13, read from its storages.
// tests/ops/aliasing_test.cpp compares them with torch and the interpreter for
// every row.
#pragma once

#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

// Whether results of an op share memory with its arguments. "First" is the
// first tensor among the arguments. Where a rule says "if", results have memory
// of their own in all other calls.
enum class Aliasing : uint8_t {
  // Each result has memory of its own.
  never,
  // Every result is a view of the first tensor.
  always,
  // Like `always`, but the offset counts from the start of the first tensor's
  // storage and not from its first element (as_strided).
  places,
  // The result is the first tensor, which the call writes.
  written,
  // The result is the first tensor if that has the wanted dtype and no copy is
  // asked for.
  same_type,
  // The result is the first tensor if that is not complex.
  real,
  // The result is a view of the first tensor if its strides allow the wanted
  // shape (reshape).
  strides,
  // The result is the first tensor if that has the wanted memory format.
  format,
  // The result is the first tensor if the op does nothing: dropout in
  // evaluation, or with probability 0.
  inactive,
  // Result i is a view of tensor i.
  each,
  // Indexing. A tensor indexed by numbers, slices and None gives a view; by
  // tensors, lists or bools it gives memory of its own. A sequence gives the
  // item itself.
  item,
  // einsum: the result is a view of the operand if there is one operand only
  // and no dim of it is summed.
  operand,
  // diff: the result is the first tensor if that has no elements to subtract.
  empty,
  // The results share memory with each other, but with no argument.
  together,
  // The calls that the op is composed of decide; for rows that users register.
  composed,
};

Aliasing aliasing(const Op& op);

// Whether some call of the op can give a result that shares memory with an
// argument.
bool may_alias(const Op& op);

// Whose memory one tensor of a result is.
struct ResultMemory {
  static constexpr int kOwn = -1;       // No other tensor's.
  static constexpr int kTogether = -2;  // That of all such results of the call.
  // The number of the argument tensor whose memory it is, counted over all
  // tensors of the arguments in order; or kOwn or kTogether.
  int argument = kOwn;
  // Whether the result's inferred strides and offset are right in that memory.
  // They are not if an index tensor without dims picks the place.
  bool placed = true;
};

// Whose memory each tensor of `result` is, in order of appearance. Tensors of
// the call and of the result may be meta. The op must not be `composed`.
std::vector<ResultMemory> result_memory(const OpCall& call,
                                        const Value& result);

}  // namespace fxjit::ops
