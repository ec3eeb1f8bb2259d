// Calls that write memory which they also read elsewhere, or several times:
// torch refuses those that it recognises, as their numbers would depend on the
// order of the loop.
#pragma once

#include "fxjit/op.h"

namespace fxjit::ops {

// Whether torch refuses the call for this. The tensors that share memory with
// the first argument, the written one, are those of `sharing`; offsets count
// from the start of that memory. Tensors may be meta.
bool is_refused_write(const OpCall& call, std::span<const Tensor> sharing);

// The same of self[index] = value, where `part` is what is written and `value`
// shares its memory. `by_views`: the index has no tensors.
bool is_refused_assignment(const Tensor& part, const Tensor& value,
                           bool by_views);

// Whether strides of 0 make several elements one, which torch does not write.
bool repeats_elements(const Tensor& tensor);

// RuntimeError, with torch's text, for such calls on tensors with data.
void check_written_memory(const OpCall& call);
void check_assignment(const Tensor& part, const Tensor& value, bool by_views);

}  // namespace fxjit::ops
