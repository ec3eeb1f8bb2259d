// Steps of convolutions whose loops are our own: depthwise ones, and those of
// images of few channels.
#pragma once

#include <memory>

#include "kernels/kernel_request.h"

namespace fxjit::kernels {

// For Routine::depthwise and Routine::image_convolution.
std::shared_ptr<const program::ExternKernel> make_row_conv_kernel(
    program::Routine routine, const KernelRequest& request, int threads);

}  // namespace fxjit::kernels
