// Epilogues of convolutions: their code is generated, and run by the
// convolution's own over places that it has just made, while caches hold them.
#pragma once

#include <vector>

#include "fxjit/op.h"
#include "src/program/rows/step.h"
#include "src/program/steps/call_code.h"

namespace fxjit::program {

// The step that does the epilogue of a convolution in place, none where there
// is none to generate. Its operands are the sums, the call's extra tensors, and
// the sums again; each task is a place, or a row of places along the last dim
// where loops over rows compute the call.
std::vector<RowStep> convolution_tail(const ops::OpCall& call, CallCode code,
                                      const Machine& machine);

}  // namespace fxjit::program
