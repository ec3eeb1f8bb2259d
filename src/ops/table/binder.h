// Binding of call arguments to declared parameters, with Python's rules and
// texts.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

// The place of the parameter of this name.
std::optional<size_t> index_of(const std::vector<Parameter>& parameters,
                               std::string_view name);

struct Callee {
  std::string name;  // In errors.
  const std::vector<Parameter>& parameters;
};

// As ops::bind.
ValueList bind_parameters(const Callee& callee, std::span<const Value> args,
                          const Kwargs& kwargs, SourceLocation source);

}  // namespace fxjit::ops
