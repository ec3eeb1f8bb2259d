// Pooling steps of compiled programs.
#pragma once

#include <memory>

#include "src/program/planner.h"

namespace fxjit::kernels {

// Null when the call wants indices or has another element type.
std::shared_ptr<const program::ExternKernel> make_pool_kernel(
    const program::KernelRequest& request);

}  // namespace fxjit::kernels
