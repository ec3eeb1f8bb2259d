// What another runtime computes inside of a model, for `fxjit check`.
#pragma once

#include <string>
#include <vector>

#include "fxjit/check.h"
#include "tools/fxjit/commands.h"
#include "tools/fxjit/model.h"

namespace fxjit::command {

// By reference.py, in a process of its own; its files go to `folder`. UserError
// for a model of another format than the runtime reads, and for what goes wrong
// with it.
ReferenceValues reference_values(const Model& model, const ValueList& inputs,
                                 const CheckOptions& options,
                                 const std::string& folder);

// Makes `file`, of the format that its ending tells, of a module and inputs.
void export_module(const fx::GraphModule& module, const ValueList& inputs,
                   const std::string& file, const CheckOptions& options,
                   const std::string& folder);

}  // namespace fxjit::command
