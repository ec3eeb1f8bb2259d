// Which node of a graph is the first whose value is wrong.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "src/check/subject.h"

namespace fxjit::checking {

struct WrongNode {
  std::string name;
  std::string difference;
};

// Compiles the graph up to each call that its result depends on, in order; of
// many calls, up to those that a bisection asks for. Nothing where all such
// graphs are right: then what is wrong needs the rest of the graph.
std::optional<WrongNode> find_wrong_node(const GraphCase& c,
                                         const ExpectedNodes& expected,
                                         const Subject& subject);

// The first node, in the graph's order, whose value another runtime has
// otherwise than the interpreter.
std::optional<WrongNode> find_other_value(
    const GraphCase& c, const ExpectedNodes& expected,
    const std::map<std::string, Value, std::less<>>& given);

}  // namespace fxjit::checking
