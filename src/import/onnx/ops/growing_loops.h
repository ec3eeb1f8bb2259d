// Loops whose carried tensors change their sizes from iteration to iteration,
// which torch's loops do not.
#pragma once

#include "fxjit/fx/target.h"

namespace fxjit::onnx {

// (cond_graph, body_graph, carried, operands), as torch's while_loop, run by the
// interpreter. RuntimeError where a carried value changes its type or rank.
const fx::Function& growing_loop();

}  // namespace fxjit::onnx
