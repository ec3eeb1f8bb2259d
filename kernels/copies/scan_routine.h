// Cumulative sums in compiled programs: plain C++ over blocks of lines.
#pragma once

#include <memory>

#include "kernels/call_request.h"

namespace fxjit::kernels {

// For CallCode::cumulative_sum: floats in their own type, integers and bools in
// int64, summed as the eager function does (floats in double).
std::shared_ptr<const program::ExternCode> make_scan_routine(
    const CallRequest& request);

}  // namespace fxjit::kernels
