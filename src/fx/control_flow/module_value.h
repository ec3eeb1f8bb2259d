// A module as a value, see fx::module_value.
#pragma once

#include "fxjit/fx/tracer_base.h"
#include "fxjit/nn/module.h"

namespace fxjit::fx {

class ModuleValue final : public TracedArgument {
 public:
  explicit ModuleValue(nn::ModuleRef module);
  const nn::ModuleRef& module() const { return module_; }
  Value fx_create_arg(TracerBase& tracer) override;

 private:
  nn::ModuleRef module_;
};

}  // namespace fxjit::fx
