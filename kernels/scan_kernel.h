// Cumulative sums in compiled programs: plain C++ over blocks of lines.
#pragma once

#include <memory>

#include "src/program/planner.h"

namespace fxjit::kernels {

// For cumsum of floats in their own type and of integers and bools in int64,
// summed as the eager kernel does (floats in double). Null for other calls.
std::shared_ptr<const program::ExternKernel> make_scan_kernel(
    const program::KernelRequest& request);

}  // namespace fxjit::kernels
