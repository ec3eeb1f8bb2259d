// Python's text of values inside nodes, appended to a string. Nodes are written
// by name. Used by the printers and the code generator.
#pragma once

#include <string>

#include "fxjit/value.h"

namespace fxjit::fx {

// As generated code writes values: Python's repr, but of tensors their shape
// and type.
void append_code(std::string& out, const Value& value);
// repr(value).
void append_repr(std::string& out, const Value& value);
// str(value): as repr, except that a string itself stands without quotes.
void append_str(std::string& out, const Value& value);
// As torch.fx prints arguments: "%" before nodes, strings without quotes, at
// any depth of lists, tuples and dicts.
void append_argument(std::string& out, const Value& value);
void append_int(std::string& out, int64_t value);

}  // namespace fxjit::fx
