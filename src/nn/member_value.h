// What a name of a module stands for, without recording anything. For the
// compiler.
#pragma once

#include <optional>

#include "fxjit/nn/module.h"

namespace fxjit::nn {

// The tensor of a parameter or buffer, or the attribute; nothing for a module
// and for an unknown name.
inline std::optional<Value> member_value(const Member& member) {
  if (const auto* parameter = std::get_if<Parameter>(&member))
    return parameter->tensor();
  if (const auto* buffer = std::get_if<Buffer>(&member))
    return buffer->tensor();
  if (const auto* other = std::get_if<Value>(&member)) return *other;
  return std::nullopt;
}

}  // namespace fxjit::nn
