// Depthwise convolution steps of compiled programs.
#pragma once

#include <memory>

#include "src/program/planner.h"

namespace fxjit::kernels {

// Of conv_last and conv_last_work. Null for other calls, and where channels are
// not innermost.
std::shared_ptr<const program::ExternKernel> make_depthwise_kernel(
    const program::KernelRequest& request, int threads);

}  // namespace fxjit::kernels
