// The module that a call_module node names. For the interpreters.
#pragma once

#include <string>

#include "fxjit/fx/target.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {

// TypeError when `member`, what `target` names, is no module.
inline nn::ModuleRef called_module(const nn::Member& member,
                                   const Target& target) {
  const auto* const module = std::get_if<nn::ModuleRef>(&member);
  if (!module || !*module)
    throw TypeError("[call_module] target " + std::string(target.text()) +
                    ": expected a module, got another member");
  return *module;
}

}  // namespace fxjit::fx
