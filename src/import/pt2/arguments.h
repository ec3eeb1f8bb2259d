// Arguments of nodes as the file writes them, one member that names the kind:
// {"as_tensor": {"name": "x"}}, {"as_ints": [1, 2]}, {"as_none": true}.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "fxjit/value.h"
#include "src/import/field.h"

namespace fxjit::import {

// What the names of a graph stand for: nodes, or constants.
using Names = std::unordered_map<std::string, Value>;

// The argument as a value, names replaced by what they stand for. UserError for
// names that are not in `names` (used before it is computed, or nowhere) and
// kinds that are not supported.
Value read_argument(const Field& argument, const Names& names);

// Names of what a node returns, nested as the results are: a text for a tensor
// or number, a list for a list of tensors, none for nothing.
Value read_results(const Field& outputs);

// The name in an argument that defines one: an input or output of a graph.
// Nothing for a constant.
std::optional<std::string> defined_name(const Field& argument);

}  // namespace fxjit::import
