// Types without a sign, which are carried in wider types: which results have
// one, and which ops may leave its range.
#pragma once

#include "src/import/onnx/call.h"

namespace fxjit::onnx {

// The bits of output `i` of a node whose inputs are known.
UnsignedBits unsigned_result(const Call& call, size_t i);

// Whether results of the op may be outside of the type's range.
bool computes_numbers(std::string_view op);

}  // namespace fxjit::onnx
