// The routine of ControlCall. Its programs read and write the memory of the
// call around them; what a loop carries lies in two places in turn.
#pragma once

#include <memory>
#include <vector>

#include "src/fx/control_flow/functions.h"
#include "src/program/running/executable.h"

namespace fxjit::program {

// `programs` are those of the call's bodies, in order; loops keep to `limits`.
std::shared_ptr<const ExternCode> make_control_code(
    ControlCall call, std::vector<std::shared_ptr<const Executable>> programs,
    fx::LoopLimits limits);

}  // namespace fxjit::program
