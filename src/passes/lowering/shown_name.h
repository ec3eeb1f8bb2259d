// What reports call the ops of a compiled graph.
#pragma once

#include <string>

#include "fxjit/op.h"

namespace fxjit::passes {

// The op's name, or for an op that only compiled graphs contain what a user
// calls the same computation: "matmul", "copy", "conv", "max_pool".
std::string shown_name(const ops::OpCall& call);

}  // namespace fxjit::passes
