// Recurrent layers in compiled programs: all steps of time of one or two
// directions in one call, by the loops of step.h.
#pragma once

#include <memory>

#include "kernels/call_request.h"

namespace fxjit::kernels {

// For CallCode::recurrence.
std::shared_ptr<const program::ExternCode> make_recurrent_routine(
    const CallRequest& request, int threads);

}  // namespace fxjit::kernels
