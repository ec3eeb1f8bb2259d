// How many floats a vector register of a CPU level holds.
#pragma once

#include "fxjit/cpu_level.h"

namespace fxjit::support {

constexpr int vector_lanes(CpuLevel level) {
  switch (level) {
    case CpuLevel::avx512:
      return 16;
    case CpuLevel::avx2:
      return 8;
    case CpuLevel::sse41:
      break;
  }
  return 4;
}

}  // namespace fxjit::support
