// What a graph computes, by the interpreter: in its own types, and in double
// precision with bounds for the error of any correct implementation. The bounds
// come from runs in double precision whose numbers are disturbed, at every
// call, by what sums of the call's length lose; they so follow the lengths of
// all sums on the path to an element, and what later calls make of the error.
#pragma once

#include <functional>
#include <map>
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

// Throws what the interpreter throws for graphs that cannot run, also in double
// precision.
Expected evaluate(const GraphCase& c);
// With the interpreter's own numbers for the exact ones, and bounds of so much
// of the greatest number of each tensor.
Expected evaluate_within(const GraphCase& c, double tolerance);

// The values of a graph's calls by their nodes' names, each as it was when it
// was made.
using Values = std::map<std::string, Value, std::less<>>;
Values values_of_nodes(const GraphCase& c);

using ExpectedNodes = std::map<std::string, Expected, std::less<>>;
// As evaluate(), of each call of the graph.
ExpectedNodes evaluate_nodes(const GraphCase& c);
ExpectedNodes evaluate_nodes_within(const GraphCase& c, double tolerance);

// The memory of all elements of the tensors, in order: each place is numbered
// where it first appears.
std::vector<uint32_t> places(const std::vector<Tensor>& tensors);

// Empty when `got` has the expected numbers, and its tensors share memory with
// each other where those of the interpreter do.
std::string difference(const Outcome& got, const Expected& expected);
// Likewise, of structure, types, sizes and numbers of the results alone.
std::string result_difference(const Outcome& got, const Expected& expected);

// What another implementation gave in place of the interpreter's results. Its
// numbers have an error of their own, so that twice as much is allowed. Empty
// tensors stand for results that it did not give.
Expected expected_of(const std::vector<Tensor>& given, const Expected& own);

}  // namespace fxjit::checking
