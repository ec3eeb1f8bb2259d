// What scales and zero points of quantised tensors must be. Each check fails
// with the node and the input's number where the model says otherwise.
#pragma once

#include "src/import/onnx/call.h"

namespace fxjit::onnx {

// The input is there and has floats.
void check_scale(const Call& call, size_t input);
// The input has this type, or is absent.
void check_zero_point(const Call& call, size_t input, DType dtype);
// The input has one number or, with one dim, `count` of them, as far as the
// model tells.
void check_count(const Call& call, size_t input, const Value& count);
// The input has one number or is absent.
void check_one(const Call& call, size_t input);

}  // namespace fxjit::onnx
