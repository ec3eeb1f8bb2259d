#include "src/support/machine/dot_products.h"

namespace fxjit::support {

bool host_has_dot_products(CpuLevel level) {
  if (!host_supports(level)) return false;
  switch (level) {
    case CpuLevel::sse41:
      return false;
    case CpuLevel::avx2:
      return __builtin_cpu_supports("avxvnni");
    case CpuLevel::avx512:
      return __builtin_cpu_supports("avx512vnni");
  }
  return false;
}

}  // namespace fxjit::support
