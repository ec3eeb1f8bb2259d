// What a graph computes, by the interpreter: in its own types, and in double
// precision with bounds for the error of any correct implementation. The bounds
// come from runs in double precision whose numbers are disturbed, at every
// call, by what sums of the call's length lose; they so follow the lengths of
// all sums on the path to an element, and what later calls make of the error.
#pragma once

#include <string>
#include <vector>

#include "src/check/graph_case.h"

namespace fxjit::checking {

// All tensors that a run leaves: those of the result, in order of appearance,
// then the inputs and the constants, which it may have written.
struct Outcome {
  std::string structure;  // Of the result: "(Tensor, [Tensor])".
  std::vector<Tensor> tensors;
  size_t results = 0;  // So many of the tensors are results.

  std::string name(size_t tensor) const;
};

Outcome outcome_of(const Value& result, const GraphRun& run);

struct Expected {
  Outcome interpreted;
  struct Numbers {
    std::vector<double> exact;
    std::vector<double> allowed;  // Infinite where nothing can be told.
  };
  std::vector<Numbers> numbers;  // By tensor.
};

// Throws what the interpreter throws for graphs that cannot run.
Expected evaluate(const GraphCase& c);

// The memory of all elements of the tensors, in order: each place is numbered
// where it first appears.
std::vector<uint32_t> places(const std::vector<Tensor>& tensors);

// Empty when `got` has the expected numbers, and its tensors share memory with
// each other where those of the interpreter do.
std::string difference(const Outcome& got, const Expected& expected);

}  // namespace fxjit::checking
