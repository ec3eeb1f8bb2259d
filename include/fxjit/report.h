// What became of a compiled module's graph, as data: which step computes which
// nodes, by what, and why not by native code. fxjit::report(module) gives it as
// text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fxjit/computed_by.h"

namespace fxjit {

class Value;
namespace fx {
class GraphModule;
}  // namespace fx

// A node of the module's graph.
struct NodeReport {
  std::string name;
  std::string target;
  std::string file;  // The line of user code that it was captured at; empty and
  int line = 0;      // 0 when that is not known.
};

struct StepReport {
  ComputedBy by = ComputedBy::generated;
  std::string label;   // "matmul+add+gelu"
  std::string kernel;  // Which routine or primitive; "generated" for code.
  std::vector<NodeReport> nodes;
  std::string reason;  // Why it is not native; empty if it is.
  // How a convolution or pooling is computed, and why so: "window over planes:
  // one filter for each channel". Empty for other steps.
  std::string way = {};
  // Median of a call, and its share of all steps; 0 if not measured.
  double microseconds = 0;
  double share = 0;
  // Not empty: a step of a branch or body of the last step before it that has
  // none, "true", or "body.true" of one inside of another. Its time is part of
  // that step's. `calls`: how often it ran in a call, averaged.
  std::string body = {};
  double calls = 0;
};

// One compiled program. A part of a graph, up to a node that the interpreter
// runs, has a program of its own.
struct ProgramReport {
  std::string inputs;   // "float32[2, 3], 5"
  std::string begin;    // The node that the part begins with; empty: the first.
  std::string why_not;  // Not empty: the interpreter serves these inputs.
  std::vector<StepReport> steps;
};

// A size with a name, and all that it can be in one kind of inputs.
struct SizeReport {
  std::string name;
  int64_t least = 0;
  std::optional<int64_t> most;
};

// What a graph of named sizes assumes of them.
struct GuardReport {
  std::string text;          // "length < 513"
  std::string where;         // The op that asked, and its line of user code.
  bool specialises = false;  // It asked for a number: one size alone fits.
};

// Inputs whose programs come from one graph of named sizes (docs/sizes.md).
struct KindReport {
  std::string inputs;  // "int64[batch, length]"
  std::vector<SizeReport> sizes;
  std::vector<GuardReport> guards;
  // Not empty: names did not do, so that each tuple of sizes has a graph of its
  // own; the rest tells how far they came.
  std::string why_not;
};

struct Report {
  std::vector<ProgramReport> programs;
  std::vector<KindReport> kinds = {};

  // True when every step of every program is native.
  bool native() const;
  // A line for each program and step, for each kind, its sizes and guards.
  std::string text() const;
  // An object {"programs": [...], "kinds": [...]} with the fields above by
  // their names.
  std::string json() const;
};

// What was compiled so far; empty when nothing was. Thread-safe.
Report make_report(const fx::GraphModule& module);

// How many programs are kept, and their bytes as CompileOptions::memory_cap
// counts them; 0 when nothing was compiled. Thread-safe, and cheaper than a
// report.
struct CompiledSize {
  size_t programs = 0;
  size_t bytes = 0;
};
CompiledSize compiled_size(const fx::GraphModule& module);

// The programs that a call with these inputs runs, with the time of each step
// over `calls` calls. UserError when the module was not compiled, or these
// inputs stay with the interpreter.
Report measure_report(fx::GraphModule& module, std::span<const Value> inputs,
                      int calls = 20);

}  // namespace fxjit
