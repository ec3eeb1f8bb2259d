// Arithmetic on shapes: ops on small tensors of integers whose elements are
// known, or follow from the inputs' sizes. It happens while the model is
// loaded, on numbers and on proxies of numbers, so that reshapes and their kin
// get sizes and not tensors.
#pragma once

#include <optional>

#include "src/import/onnx/call.h"

namespace fxjit::onnx {

// The results where all inputs are such tensors, at least one of them no plain
// constant, and the op is one of those that shapes are computed with. Nothing
// otherwise.
std::optional<Results> evaluate_numbers(Call& call);

}  // namespace fxjit::onnx
