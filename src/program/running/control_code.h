// The routine of ControlCall: it runs the programs of branches and bodies. They
// read and write the memory of the program around them; carried values
// alternate between two places.
#pragma once

#include <memory>
#include <vector>

#include "src/fx/control_flow/functions.h"
#include "src/program/running/executable.h"

namespace fxjit::program {

// `programs` are those of the call's bodies, in their order. Loops throw when
// they exceed `limits`.
std::shared_ptr<const ExternCode> make_control_code(
    ControlCall call, std::vector<std::shared_ptr<const Executable>> programs,
    fx::LoopLimits limits);

}  // namespace fxjit::program
