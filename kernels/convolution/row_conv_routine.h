// Steps of convolutions whose loops are our own: depthwise ones, and those of
// images of few channels.
#pragma once

#include <memory>

#include "kernels/call_request.h"

namespace fxjit::kernels {

// For CallCode::depthwise and CallCode::image_convolution.
std::shared_ptr<const program::ExternCode> make_row_conv_routine(
    program::CallCode code, const CallRequest& request, int threads);

}  // namespace fxjit::kernels
