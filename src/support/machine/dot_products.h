// Whether this machine has the instruction that adds four products of 8 bits in
// 32 bits, `vpdpbusd`, which no level has: it stands beside them.
#pragma once

#include "fxjit/cpu_level.h"

namespace fxjit::support {

// In vectors of the level's length: AVX-VNNI for avx2, AVX512-VNNI for avx512.
bool host_has_dot_products(CpuLevel level);

}  // namespace fxjit::support
