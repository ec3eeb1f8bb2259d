// Arithmetic on shapes while the model is loaded: ops on small tensors of
// integers that are known, or follow from the sizes of inputs. They are
// computed on numbers and on proxies of numbers, so that reshapes are given
// sizes and not tensors.
#pragma once

#include <optional>

#include "src/import/onnx/call.h"

namespace fxjit::onnx {

// Computes the call in numbers. It does so if all inputs are such tensors, at
// least one of them is no plain constant, and the op is one that shapes are
// computed with. None otherwise.
std::optional<Results> evaluate_numbers(Call& call);

}  // namespace fxjit::onnx
