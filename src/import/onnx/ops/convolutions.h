// The convolution of a node's attributes, which quantised ones share.
#pragma once

#include "src/import/onnx/ops/windows.h"

namespace fxjit::onnx {

// `weight_input`: the node's input that has the sizes of the weight. `bias` may
// be None.
Value convolution(const Call& call, Value x, const Value& weight,
                  const Value& bias, size_t weight_input);

}  // namespace fxjit::onnx
