// The CPU levels whose code tests run on this machine. host_levels_test.cpp,
// which is part of every program that asks, says which are left out.
#pragma once

#include <vector>

#include "fxjit/cpu_level.h"

namespace fxjit::support {

inline constexpr CpuLevel kCpuLevels[] = {CpuLevel::sse41, CpuLevel::avx2,
                                          CpuLevel::avx512};

// Narrowest first.
inline std::vector<CpuLevel> host_levels() {
  std::vector<CpuLevel> levels;
  for (CpuLevel level : kCpuLevels)
    if (host_supports(level)) levels.push_back(level);
  return levels;
}

}  // namespace fxjit::support
