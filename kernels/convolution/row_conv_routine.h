// Steps of convolutions whose loops are our own: depthwise ones, those in
// groups of few channels, and those of images of few channels.
#pragma once

#include <memory>

#include "kernels/call_request.h"

namespace fxjit::kernels {

// For CallCode::depthwise, grouped_convolution and image_convolution; null for
// groups where the level has no loops for them.
std::shared_ptr<const program::ExternCode> make_row_conv_routine(
    program::CallCode code, const CallRequest& request, int threads);

}  // namespace fxjit::kernels
