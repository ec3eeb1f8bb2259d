// The check itself, with what tests add to it.
#pragma once

#include "fxjit/check.h"
#include "src/passes/pipeline.h"

namespace fxjit::checking {

// fxjit::check of a module whose passes run with these hooks: tests plant
// faults by them. `observer` is not kept.
CheckResult check_with(const fx::GraphModule& module,
                       std::span<const Value> inputs,
                       const CheckOptions& options, passes::PassHooks hooks);

}  // namespace fxjit::checking
