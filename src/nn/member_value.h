// What a name of a module stands for, without recording anything.
#pragma once

#include <optional>

#include "fxjit/nn/module.h"

namespace fxjit::nn {

// The tensor of a parameter or of a buffer, or the attribute itself. Nothing
// for a module, and for a member that holds nothing (its name is unknown).
inline std::optional<Value> member_value(const Member& member) {
  if (const auto* parameter = std::get_if<Parameter>(&member))
    return parameter->tensor();
  if (const auto* buffer = std::get_if<Buffer>(&member))
    return buffer->tensor();
  if (const auto* other = std::get_if<Value>(&member)) return *other;
  return std::nullopt;
}

// "prefix.name"; the name alone where the prefix is empty.
inline std::string joined(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

// Registers `member` with `module` under `name` as what it is: module,
// parameter, buffer or attribute. Does nothing where it holds nothing.
inline void register_member(Module& module, const std::string& name,
                            const Member& member) {
  if (const auto* child = std::get_if<ModuleRef>(&member))
    module.register_module(name, *child);
  else if (const auto* parameter = std::get_if<Parameter>(&member))
    module.register_parameter(name, *parameter);
  else if (const auto* buffer = std::get_if<Buffer>(&member))
    module.register_buffer(name, *buffer);
  else if (const auto* value = std::get_if<Value>(&member))
    module.set_attr(name, *value);
}

}  // namespace fxjit::nn
