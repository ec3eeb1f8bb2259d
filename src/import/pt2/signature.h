// What the inputs and outputs of an exported graph are: weights and arguments
// go in, results and new values of buffers come out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fxjit/value.h"
#include "src/import/field.h"

namespace fxjit::import {

struct InputSpec {
  enum class Kind { parameter, buffer, constant_tensor, argument, constant };

  Kind kind;
  std::string name;    // In the graph; empty for a constant without a name.
  std::string target;  // The name in the module that a weight has.
  bool persistent = true;
  Value constant;  // The value, if the argument is a constant.
  Field place;

  bool is_weight() const { return kind < Kind::argument; }
};

struct OutputSpec {
  // `result`: returned. Others: written into what `target` names, the argument
  // by its name in the graph.
  enum class Kind { result, buffer, parameter, argument };

  Kind kind;
  Field argument;  // As arguments of nodes.
  std::string target;
};

// Read the field "signature". UserError for objects that are no tensors.
std::vector<InputSpec> read_input_specs(const Field& signature);
std::vector<OutputSpec> read_output_specs(const Field& signature);

}  // namespace fxjit::import
