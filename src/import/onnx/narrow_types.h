// Real numbers of 8 bits, of types that tensors have and of those that float16
// carries, and numbers of 2 and 4 bits, which float16, int8 and uint8 carry:
// ops that make them, move them and read them.
#pragma once

#include <optional>

#include "src/import/onnx/call.h"
#include "src/import/onnx/op_rows.h"

namespace fxjit::onnx {

// One of those that others carry, by TensorProto's number; none for all others.
CarriedType narrow_type_of(int64_t element_type);
CarriedType narrow_type_of(const TypeInfo& type);

// The results of a node that has inputs or results of such types, marked with
// the type; none for other nodes. Fails, and names the type, for ops that would
// compute with these numbers.
std::optional<Results> narrow_results(Call& call, const OpRow& row);

}  // namespace fxjit::onnx
