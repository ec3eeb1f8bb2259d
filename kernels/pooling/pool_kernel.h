// Pooling steps of compiled programs.
#pragma once

#include <memory>

#include "kernels/kernel_request.h"

namespace fxjit::kernels {

// For Routine::pool and Routine::pool_last.
std::shared_ptr<const program::ExternKernel> make_pool_kernel(
    const KernelRequest& request);

}  // namespace fxjit::kernels
