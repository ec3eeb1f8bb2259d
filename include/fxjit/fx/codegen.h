// Generation of Python source from a graph: the text that real torch would run.
// A CodeGen may be replaced per graph to change the function's signature, its
// return statement, and how inputs and outputs are passed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fxjit/nn/signature.h"
#include "fxjit/value.h"

namespace fxjit::fx {

class Graph;

struct PythonCode {
  std::string src;
  // Names used by `src` and the import that defines each, in order. The import
  // is empty for a function of the user whose name has no module.
  std::vector<std::pair<std::string, std::string>> globals;
  // For each line from "def" on, the position of the node it computes; -1 for
  // none.
  std::vector<int> lineno_map;
};

struct CodeOptions {
  bool verbose = false;  // Shapes as annotations, source lines as comments.
  bool include_stride = false;
  bool include_device = false;
  bool expanded_def = false;  // Each argument on its own line.
};

// Changes the lines of a generated body. Each line has its line break; before
// those of a node stands a line "# COUNTER: <position>", which is dropped
// afterwards.
using BodyTransform =
    std::function<std::vector<std::string>(std::vector<std::string> body)>;

// Immutable; shared between a graph and its copies.
class CodeGen {
 public:
  virtual ~CodeGen() = default;

  // "def forward(self, x):"
  virtual std::string gen_fn_def(std::vector<std::string> free_vars,
                                 std::string_view return_annotation,
                                 bool expanded_def) const;
  // "return " followed by `result`, the Python expression of the output.
  virtual std::string generate_output(std::string_view result) const;
  // Arguments of the generated function; null when they are the placeholders.
  virtual const nn::Signature* signature() const { return nullptr; }
  // Turns the inputs of the generated function into those of the graph.
  virtual ValueList process_inputs(ValueList inputs) const;
  virtual Value process_outputs(Value outputs) const;
  // Further names for `PythonCode::globals`.
  virtual std::vector<std::pair<std::string, std::string>> additional_globals()
      const;
};

}  // namespace fxjit::fx
