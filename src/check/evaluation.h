// Computes what a graph gives, by the interpreter: once in its own types, and
// once in double precision with bounds on the error of any correct
// implementation. For the bounds, the graph is run in double precision several
// times with its numbers disturbed at every call, by as much as sums of that
// call's length lose. The bounds thus follow all sums on the way to an element,
// and what later calls make of their errors.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "src/check/graph_case.h"

namespace fxjit::checking {

// The tensors that a run leaves: those of the result in order of appearance,
// then the inputs and the constants that the run may have written.
struct Outcome {
  std::string structure;  // Of the result: "(Tensor, [Tensor])".
  std::vector<Tensor> tensors;
  // How many of the tensors, from the first, are results.
  size_t results = 0;

  std::string name(size_t tensor) const;
};

Outcome outcome_of(const Value& result, const GraphRun& run);

struct Expected {
  Outcome interpreted;
  struct Numbers {
    std::vector<double> exact;
    // For each element, how far another result may be off; infinite where the
    // runs tell nothing.
    std::vector<double> allowed;
  };
  std::vector<Numbers> numbers;  // By tensor.
};

// Runs the graph and makes the bounds. Throws what the interpreter throws if
// the graph cannot run, also if it cannot run in double precision.
Expected evaluate(const GraphCase& c);
// The same without double precision: the interpreter's own numbers count as
// exact, and an element may be off by `tolerance` times the greatest number of
// its tensor.
Expected evaluate_within(const GraphCase& c, double tolerance);

// The value of each call of a graph, by the name of its node, as it was when it
// was computed.
using Values = std::map<std::string, Value, std::less<>>;
Values values_of_nodes(const GraphCase& c);

using ExpectedNodes = std::map<std::string, Expected, std::less<>>;
// The same for the value of each call of the graph.
ExpectedNodes evaluate_nodes(const GraphCase& c);
ExpectedNodes evaluate_nodes_within(const GraphCase& c, double tolerance);

// For each element of the tensors, in order, a number of its place in memory.
// Places are numbered in the order in which they first appear, so equal lists
// mean that memory is shared in the same way.
std::vector<uint32_t> places(const std::vector<Tensor>& tensors);

// Describes the first difference from what was expected, in numbers or in which
// tensors share memory; empty if there is none.
std::string difference(const Outcome& got, const Expected& expected);
// The same for structure, types, sizes and numbers of the results alone.
std::string result_difference(const Outcome& got, const Expected& expected);

// Expects what another implementation gave (`given`) instead of the
// interpreter's results. Its numbers have errors too, so the bounds of `own`
// are doubled. An empty tensor stands for a result that it did not give.
Expected expected_of(const std::vector<Tensor>& given, const Expected& own);

}  // namespace fxjit::checking
