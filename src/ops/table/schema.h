// Parses a row's schema text into parameters. Called once per row by the
// registry; errors are bugs of whoever wrote the row.
#pragma once

#include <string_view>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

// "input, other, *, alpha=1", "input, *size". Throws UserError on bad text.
std::vector<Parameter> parse_schema(std::string_view schema);

}  // namespace fxjit::ops
