// Loops in which carried tensors change their sizes from iteration to
// iteration. torch's loops cannot do that.
#pragma once

#include "fxjit/fx/target.h"

namespace fxjit::onnx {

// A function with the arguments (cond_graph, body_graph, carried, operands) of
// torch's while_loop, which the interpreter runs. Throws RuntimeError if a
// carried value changes its dtype or rank.
const fx::Function& growing_loop();

}  // namespace fxjit::onnx
