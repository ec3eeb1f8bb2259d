// Pooling steps of compiled programs.
#pragma once

#include <memory>

#include "kernels/call_request.h"

namespace fxjit::kernels {

// For CallCode::pool and CallCode::pool_last.
std::shared_ptr<const program::ExternCode> make_pool_routine(
    const CallRequest& request);

}  // namespace fxjit::kernels
