// Weights in files, which graphs share: what is made of them is made once.
#pragma once

#include <nanobind/nanobind.h>

#include "fxjit/tensor.h"

namespace fxjit::python {

// A tensor over a PyTorch tensor whose memory is a file's, mapped privately.
// All that ask while it is unchanged, as WeightCheck sees it, have the same
// memory, read only; so it is packed once for all graphs. Its pages are given
// back when they were read. Needs the interpreter's lock.
Tensor weight_in_file(nanobind::handle tensor, const char* where);

// Who asks from now on has memory of its own: for changes that WeightCheck does
// not see. Needs the interpreter's lock.
void forget_shared_weights();

}  // namespace fxjit::python
