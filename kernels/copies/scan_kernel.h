// Cumulative sums in compiled programs: plain C++ over blocks of lines.
#pragma once

#include <memory>

#include "kernels/kernel_request.h"

namespace fxjit::kernels {

// For Routine::cumulative_sum: floats in their own type, integers and bools in
// int64, summed as the eager function does (floats in double).
std::shared_ptr<const program::ExternKernel> make_scan_kernel(
    const KernelRequest& request);

}  // namespace fxjit::kernels
