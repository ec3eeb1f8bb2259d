// Products in f64, which oneDNN does not have: for the interpreter and for
// compiled programs.
#pragma once

#include <memory>

#include "kernels/call_request.h"
#include "src/ops/eager/matmul.h"

namespace fxjit::kernels {

// linear, matmul, mm, bmm and addmm of f64 whose batch dims are one; constant
// factors are packed once. Null for other calls.
std::shared_ptr<const program::ExternCode> make_double_product_routine(
    const CallRequest& request);

// A part of the ops::Backend; false for other types and small products.
bool eager_double_product(const ops::MatmulArgs& args);

}  // namespace fxjit::kernels
