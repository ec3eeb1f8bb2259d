// Finds calls that write memory which they also read through another argument,
// or in which several elements share a place. Their numbers would depend on the
// order of the loop; torch refuses those that it recognises, and so do we.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// Whether torch refuses the call for this reason. `sharing` holds the other
// tensors of the call that share memory with the first argument, which is
// written; their offsets count from the start of that memory. Tensors may be
// meta.
bool is_refused_write(const OpCall& call, std::span<const Tensor> sharing);

// The same for self[index] = value. `part` is what is written, `value` shares
// its memory; `by_views` says that the index has no tensors.
bool is_refused_assignment(const Tensor& part, const Tensor& value,
                           bool by_views);

// Whether several elements share a place by a stride of 0. torch refuses to
// write such tensors.
bool repeats_elements(const Tensor& tensor);

// Throws RuntimeError with torch's text for such calls. Tensors must have data.
void check_written_memory(const OpCall& call);
void check_assignment(const Tensor& part, const Tensor& value, bool by_views);

}  // namespace fxjit::ops
