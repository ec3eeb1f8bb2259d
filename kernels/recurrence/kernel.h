// Recurrent layers in compiled programs: all steps of time of one or two
// directions in one call, by the loops of step.h.
#pragma once

#include <memory>

#include "kernels/kernel_request.h"

namespace fxjit::kernels {

// For Routine::recurrence.
std::shared_ptr<const program::ExternKernel> make_recurrent_kernel(
    const KernelRequest& request, int threads);

}  // namespace fxjit::kernels
