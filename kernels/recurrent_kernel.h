// Recurrent layers in compiled programs: all steps of time of one or two
// directions in one call, by the loops of recurrent_step.h.
#pragma once

#include <memory>

#include "src/program/planner.h"

namespace fxjit::kernels {

// For fxjit.recurrence of f32 with the usual functions of gates. Null for other
// calls, which the op's own loop computes.
std::shared_ptr<const program::ExternKernel> make_recurrent_kernel(
    const program::KernelRequest& request, int threads);

}  // namespace fxjit::kernels
