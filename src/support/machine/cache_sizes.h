// Sizes of the caches of a core.
#pragma once

#include <array>
#include <cstddef>

namespace fxjit::support {

// Bytes of the first (data), second and third level as the system tells, or
// usual ones.
std::array<size_t, 3> cache_sizes();

}  // namespace fxjit::support
