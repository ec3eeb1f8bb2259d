// The kernels folder's entry: fast products for the interpreter (installed by
// src/ops/eager/backend.h when the process starts), and the
// code of the steps of compiled programs that no loop skeleton computes. Called
// by src/bind; src/compile asks for oneDNN's version and its fast half types.
// It shows none of oneDNN's types.
//
// Where executable memory is denied, or oneDNN fails, functions here return
// null (reported once) and plain C++ loops do the work.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "fxjit/cpu_level.h"
#include "kernels/call_request.h"
#include "src/passes/lowering/fast_halves.h"

namespace fxjit::kernels {

// The version of the library that is loaded: "v3.2.0".
std::string onednn_version();

// The routine or primitive that computes a call. Its operands are the tensors
// of `args` in order, then the results. Returns null for CallCode::eager, and
// if oneDNN may not write code or has only slow code for the call. Constant
// weights are packed here, once, and shared by all calls that need them packed
// in the same way. The code is cut into tasks for `threads` threads; for one
// thread fewer tasks are a little faster. Thread-safe.
std::shared_ptr<const program::ExternCode> make_call_code(
    program::CallCode code, const CallRequest& request, int threads);

// What generated drivers call of oneDNN, by name.
std::span<const std::pair<const char*, void*>> driver_symbols();

// The half types for which oneDNN has fast products and convolutions on this
// machine. Thread-safe.
passes::FastHalves fast_halves();

// A primitive in place of a generated tile loop. It takes the operands of
// `step` as they are, the packed right-hand side included. Returns null if the
// level is not avx512 (oneDNN cannot read the panels of other levels) or if the
// epilogue is more than a bias, a gelu and additions. Thread-safe.
std::shared_ptr<const program::ExternCode> make_library_product(
    const program::TileStep& step, CpuLevel level, int threads);

}  // namespace fxjit::kernels
