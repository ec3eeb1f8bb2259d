// Working memory of the calling thread for eager functions, which have no plan
// that would own it. One user at a time per thread: the next call may move it.
#pragma once

#include <cstddef>

namespace fxjit::kernels {

// At least `bytes` bytes aligned to 64, content undefined, valid until this
// thread asks again or ends. Blocks beyond kKeptScratchBytes are given back
// with the next smaller request. Throws RuntimeError when there is no memory.
std::byte* thread_scratch(size_t bytes);

inline constexpr size_t kKeptScratchBytes = size_t{16} << 20;

}  // namespace fxjit::kernels
