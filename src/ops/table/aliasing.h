// Says for every op of the table whose memory its results are. This is the only
// place that knows it; passes that move, merge, drop or replace calls ask here.
// The rules are those of torch 2.13, read from its storages.
// tests/ops/aliasing_test.cpp compares them with torch and the interpreter for
// every row.
#pragma once

#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

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
