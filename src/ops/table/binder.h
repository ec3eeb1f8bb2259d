// Binding of call arguments to declared parameters, with Python's rules and
// texts.
#pragma once

#include <string_view>
#include <vector>

#include "fxjit/op.h"

namespace fxjit::ops {

struct Callee {
  std::string name;  // In errors.
  const std::vector<Parameter>& parameters;
};

// As ops::bind.
ValueList bind_parameters(const Callee& callee, std::span<const Value> args,
                          const Kwargs& kwargs, SourceLocation source);

}  // namespace fxjit::ops
