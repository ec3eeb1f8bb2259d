// How the compiled side of a comparison is made and judged.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "fxjit/compile.h"
#include "fxjit/report.h"
#include "src/check/evaluation.h"
#include "src/passes/pipeline.h"

namespace fxjit::checking {

struct Subject {
  CompileOptions options;
  passes::PassHooks hooks = {};

  // The same with one more pass left out.
  Subject without(const std::string& pass) const;
};

// Compiles the graph and runs it. Throws what the call throws. Fills `report`
// unless it is null.
Outcome compiled_outcome(const GraphCase& c, const Subject& subject,
                         Report* report = nullptr);

// Gives the expected numbers of a graph and the bounds on their errors.
class Judge {
 public:
  // Without a tolerance, bounds come from runs in double precision.
  explicit Judge(std::optional<double> tolerance) : tolerance_(tolerance) {}

  Expected expected(const GraphCase& c) const;
  ExpectedNodes expected_nodes(const GraphCase& c) const;
  // Whether the compiled graph gives another result than the interpreter. False
  // for graphs that cannot run, which reducers try as well.
  bool fails(const GraphCase& c, const Subject& subject) const;

 private:
  std::optional<double> tolerance_;
};

// Describes how the compiled graph's result differs from `expected`; empty if
// it does not.
std::string failure_beside(const GraphCase& c, const Expected& expected,
                           const Subject& subject);

}  // namespace fxjit::checking
