// Which code computes a call: decided from shapes and types.
#pragma once

#include "fxjit/op.h"
#include "src/program/steps/call_code.h"

namespace fxjit::program {

// `call` and `results` hold meta tensors. Where a library turns out to have no
// fast code for the shapes, the eager function computes the call after all.
CallCode call_code_of(const ops::OpCall& call, const ValueList& results);

}  // namespace fxjit::program
