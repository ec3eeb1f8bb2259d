// Why a compiled module gives a wrong number: the module compiled, beside the
// interpreter or what another runtime gave, node by node. `fxjit check` prints
// it, fxjit.check is the same from Python (docs/debugging.md).
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/fx/graph_module.h"
#include "fxjit/report.h"

namespace fxjit {

// What another runtime gave for the same inputs.
struct ReferenceValues {
  std::string name;   // "onnxruntime"
  ValueList results;  // The leaves of the result, in order.
  // Values inside of the model, any number of them: by the names of the graph's
  // nodes or, of an ONNX model, its own names of values.
  std::map<std::string, Value, std::less<>> nodes = {};
};

// What check() compares with, and how exactly.
struct CheckOptions {
  CompileOptions compile;
  // How far numbers may be off, relative to the greatest of a tensor. Nothing:
  // as far as rounding may carry any correct implementation, found by disturbed
  // runs in double precision for each number.
  std::optional<double> tolerance;
  // Compared with as well, where it is not null.
  const ReferenceValues* reference = nullptr;
  // Search for the smallest graph that shows a difference.
  bool reduce = true;
};

// What check() found.
struct CheckResult {
  // Why the module's results are wrong: which number, what was expected and how
  // far it may be off. Empty when all agree.
  std::string difference;
  bool agrees() const { return difference.empty(); }

  // The first node whose value differs, computed by a graph that ends there.
  struct Node {
    NodeReport report;  // Its file and line, of a traced module.
    std::string trace;  // Of an imported one, where the file has a traceback.
    std::string difference;
  };
  std::optional<Node> node;
  // The interpreter's value is that of the compiled module: not a pass, but the
  // op, or the reader of the file, differs from the reference.
  bool interpreter_too = false;

  // The pass after which the graph, run by eager functions, is wrong; or the
  // first one without which the result is right. Empty: there is none, the code
  // that was made of a right graph is wrong.
  std::string pass;
  bool graph_shows_pass = false;
  // Passes without which, one at a time, the result is right.
  std::vector<std::string> right_without;
  // The step of the module's program that computes the node.
  std::optional<StepReport> step;

  // The smallest graph found that still gives a difference when it is compiled,
  // and its inputs; null where there is none.
  nn::Ref<fx::GraphModule> reduced;
  ValueList reduced_inputs;

  size_t results = 0;  // So many tensors were compared.
  std::string bounds;  // What the bounds are, as a clause.
  // The findings as text for people, several lines.
  std::string text() const;
};

// Runs `module` compiled and by the interpreter for these values of its
// placeholders, on copies of all that a call may write. UserError for bad
// options, for graphs that draw random numbers, and where
// FXJIT_BACKEND=interpreter leaves nothing to compile; what the interpreter
// throws for inputs that the module does not take.
CheckResult check(const fx::GraphModule& module, std::span<const Value> inputs,
                  const CheckOptions& options = {});

// Writes the reduced module to FOLDER/model.fx as fx::save does, its inputs to
// FOLDER/NAME.npy, and the text to FOLDER/check.txt. Returns arguments of
// `fxjit check` that repeat it. UserError where there is none or the disk
// fails.
std::string save_reduced(const CheckResult& result, const std::string& folder);

}  // namespace fxjit
