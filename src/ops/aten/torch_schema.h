// Reads torch's own text of a schema: "add.Tensor(Tensor self, Tensor other, *,
// Scalar alpha=1) -> Tensor", less the name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

// The parameters of "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
// Defaults of enums are their numbers (Mean is 1); those of memory formats,
// layouts and the like are None.
std::vector<Parameter> parse_torch_schema(std::string_view schema);

// The schema of the overload that writes its result to `out`, which takes
// nothing that says how a tensor is made.
std::string schema_with_out(std::string_view schema);
// Of the one that writes its result, a tensor, to its first argument.
std::string schema_in_place(std::string_view schema);

}  // namespace fxjit::ops
