// Which pass makes a compiled graph wrong.
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

// Of a graph that fails: runs what each pass made of it by eager functions, then
// compiles it without each of the passes that can be left out.
PassFinding find_pass(const GraphCase& failing, const Subject& subject,
                      const Judge& judge);

}  // namespace fxjit::checking
