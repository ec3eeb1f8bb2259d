// Unsigned types that are carried in wider signed ones: which results have such
// a type, and which ops may leave its range.
#pragma once

#include "src/import/onnx/call.h"

namespace fxjit::onnx {

// Some of a node's inputs: bit i stands for input i.
using InputBits = uint32_t;
inline constexpr InputBits kAllInputs = ~0u;

bool includes(InputBits inputs, size_t i);

// The bits of the type that these inputs share. One of them may be known to
// have it where others are not.
UnsignedBits unsigned_bits_of(const Call& call, InputBits inputs);

// The bits of a declared type; of a sequence or optional, those of its tensors.
UnsignedBits unsigned_bits_of(const TypeInfo& type);

// The bits of output `i` of a node whose inputs are known.
UnsignedBits unsigned_result(const Call& call, size_t i);

// The element type that an attribute states for the results, TensorProto's
// number. 0: none does.
int64_t stated_type(const Call& call);

// Whether results of the op may be outside of the type's range.
bool computes_numbers(std::string_view op);

}  // namespace fxjit::onnx
