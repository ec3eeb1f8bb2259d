// Finds the pass that makes a compiled graph wrong.
#pragma once

#include <string>
#include <vector>

#include "src/check/subject.h"

namespace fxjit::checking {

// As fields of CheckResult.
struct PassFinding {
  std::string pass;
  bool graph_shows_pass = false;
  std::vector<std::string> right_without;
};

// For a case that fails: evaluates the graph after each pass by eager
// functions, then compiles it without each of the optional passes.
PassFinding find_pass(const GraphCase& failing, const Subject& subject,
                      const Judge& judge);

}  // namespace fxjit::checking
