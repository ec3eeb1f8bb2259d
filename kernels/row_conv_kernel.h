// Steps of convolutions whose loops are our own: depthwise ones, and those of
// images of few channels.
#pragma once

#include <memory>

#include "src/program/planner.h"

namespace fxjit::kernels {

// Of conv_last and conv_last_work. Null for other calls.
std::shared_ptr<const program::ExternKernel> make_row_conv_kernel(
    const program::KernelRequest& request, int threads);

}  // namespace fxjit::kernels
