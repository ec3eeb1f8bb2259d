// Elements of a TensorProto that stand as lists of numbers: float_data,
// int32_data and their kin.
#pragma once

#include "fxjit/tensor.h"
#include "src/import/onnx/model.h"

namespace fxjit::onnx {

// A tensor with memory of its own. UserError where the list is not the one for
// the type, or has another number of elements than `dims` say; nothing is
// allocated before that is known.
Tensor read_typed_data(const TensorInfo& info, const Dims& dims, DType dtype);

}  // namespace fxjit::onnx
