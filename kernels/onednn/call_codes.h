// Code of steps by oneDNN; kernels.h chooses among these functions. All return
// null if oneDNN has nothing fast for the call, and throw Failure if it fails.
#pragma once

#include <memory>

#include "kernels/call_request.h"
#include "src/passes/lowering/fast_halves.h"

namespace fxjit::kernels::onednn {

std::shared_ptr<const program::ExternCode> make_conv_code(
    const CallRequest& request, int threads);

// linear, matmul, mm, bmm and addmm of f16 and bf16.
std::shared_ptr<const program::ExternCode> make_product_code(
    const CallRequest& request, int threads);

// Decided by the CPU's instructions. f16 is never among them, because oneDNN
// has fast code for few shapes of it.
passes::FastHalves fast_halves();

std::shared_ptr<const program::ExternCode> make_product_of_panels(
    const program::TileStep& step, int threads);

}  // namespace fxjit::kernels::onednn
