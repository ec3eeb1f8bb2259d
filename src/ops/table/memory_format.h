// Memory formats as torch's functions take them: in which order of memory a
// tensor is asked for. What the words mean stands here alone.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

enum class MemoryFormat : uint8_t {
  preserve,
  contiguous,
  channels_last,
  channels_last_3d,
};

// What a call says of its parameter memory_format; `fallback` for rows without
// it and calls that leave it out.
MemoryFormat memory_format_of(const OpCall& call, MemoryFormat fallback);

// Strides of a tensor of these sizes in a format other than `preserve`.
// RuntimeError, with torch's text, for other ranks than the format has.
Dims strides_in_format(const Dims& sizes, MemoryFormat format);

// Whether a tensor lies so.
bool is_in_format(const Tensor& tensor, MemoryFormat format);

// The format that a tensor's strides come nearest to, as Tensor.to asks.
MemoryFormat suggested_format(const Tensor& tensor);

}  // namespace fxjit::ops
