// Finds the first node of a graph whose value is wrong.
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

// Compiles the graph up to each call that its result depends on, in order; for
// many calls, bisects. Returns none if all these shorter graphs are right: the
// error then needs the rest of the graph.
std::optional<WrongNode> find_wrong_node(const GraphCase& c,
                                         const ExpectedNodes& expected,
                                         const Subject& subject);

// The first node, in the graph's order, for which another runtime has another
// value than the interpreter.
std::optional<WrongNode> find_other_value(
    const GraphCase& c, const ExpectedNodes& expected,
    const std::map<std::string, Value, std::less<>>& given);

}  // namespace fxjit::checking
