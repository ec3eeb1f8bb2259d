// The line of the caches, of one size on all machines that there is code for.
#pragma once

#include <cstdint>

namespace fxjit::support {

inline constexpr int64_t kCacheLine = 64;  // Bytes.
inline constexpr int64_t kLineFloats = kCacheLine / sizeof(float);

}  // namespace fxjit::support
