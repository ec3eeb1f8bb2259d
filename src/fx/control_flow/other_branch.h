// The branch that a call does not take, run without data.
#pragma once

#include "src/fx/control_flow/functions.h"

namespace fxjit::fx {

// RuntimeError with torch's text where the branch would give results of another
// structure, dtype or rank than `made`, which the taken branch gave. Tracing sees
// no shapes, so that a call is the first to know. Nothing is said of branches
// that call functions of the user's, have effects, or fail without data.
void check_other_branch(const ControlCall& call, size_t taken,
                        const Value& made);

}  // namespace fxjit::fx
