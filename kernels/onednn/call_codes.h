// Steps of compiled programs by oneDNN: see kernels.h, whose functions choose
// among these. All return null where oneDNN has nothing fast, and throw
// Failure.
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

// By the CPU's instructions: f16 has fast code for few shapes alone.
passes::FastHalves fast_halves();

std::shared_ptr<const program::ExternCode> make_product_of_panels(
    const program::TileStep& step, int threads);

}  // namespace fxjit::kernels::onednn
