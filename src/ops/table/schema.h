// Parses the texts of the tables: schemas and what stands in them. Errors are
// bugs of whoever wrote the row.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

// "input, other, *, alpha=1", "input, *size". Throws UserError on bad text.
std::vector<Parameter> parse_schema(std::string_view schema);

// The same with another reading of defaults. Types may stand before the names:
// "Tensor self, Scalar alpha=1".
using DefaultFn = Value (*)(std::string_view text);
std::vector<Parameter> parse_parameters(std::string_view text, DefaultFn parse);

// None, True, False, a number or a quoted text; nothing for other words.
std::optional<Value> parse_literal(std::string_view text);

// The parts between commas outside of brackets and quotes, without blanks
// around them; empty parts are left out.
std::vector<std::string_view> split_text(std::string_view text);

}  // namespace fxjit::ops
