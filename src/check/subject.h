// How graphs are compiled and run that are held against the interpreter.
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

  // Without this pass as well.
  Subject without(const std::string& pass) const;
};

// What the compiled graph gives; throws what its call throws. `report`, where it
// is given, gets what became of the graph.
Outcome compiled_outcome(const GraphCase& c, const Subject& subject,
                         Report* report = nullptr);

// By what the interpreter's numbers are known, and how far others may be off.
class Judge {
 public:
  // Nothing: bounds by runs in double precision.
  explicit Judge(std::optional<double> tolerance) : tolerance_(tolerance) {}

  Expected expected(const GraphCase& c) const;
  ExpectedNodes expected_nodes(const GraphCase& c) const;
  // Whether the compiled graph does not give the interpreter's result. Not for
  // graphs that cannot run: reducers make such.
  bool fails(const GraphCase& c, const Subject& subject) const;

 private:
  std::optional<double> tolerance_;
};

// Why the compiled graph does not give the known result; empty where it does.
std::string failure_beside(const GraphCase& c, const Expected& expected,
                           const Subject& subject);

}  // namespace fxjit::checking
