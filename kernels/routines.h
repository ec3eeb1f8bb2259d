// Steps of compiled programs by plain C++: see kernels.h, whose make_call_code
// chooses among these and onednn/call_codes.h.
#pragma once

#include <memory>

#include "kernels/call_request.h"

namespace fxjit::kernels {

// For CallCode::image_convolution.
std::shared_ptr<const program::ExternCode> make_image_conv_routine(
    const CallRequest& request, int threads);

// For CallCode::recurrence. One call computes all steps in time of one or two
// directions.
std::shared_ptr<const program::ExternCode> make_recurrent_routine(
    const CallRequest& request, int threads);

// For CallCode::cumulative_sum. Floats are summed in double and given in their
// own type, integers and bools in int64, as by the eager function.
std::shared_ptr<const program::ExternCode> make_scan_routine(
    const CallRequest& request);

// For CallCode::copy.
std::shared_ptr<const program::ExternCode> make_copy_routine(
    const CallRequest& request);

// For linear, matmul, mm, bmm and addmm of f64 whose batch dims are one.
// Constant factors are packed once. Null for other calls.
std::shared_ptr<const program::ExternCode> make_double_product_routine(
    const CallRequest& request);

}  // namespace fxjit::kernels
