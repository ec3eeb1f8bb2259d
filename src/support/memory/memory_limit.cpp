#include "src/support/memory/memory_limit.h"

#include <sys/sysinfo.h>

#include <cstdint>
#include <string>

#include "fxjit/error.h"

namespace fxjit::support {

size_t memory_bytes() {
  static const size_t bytes = [] {
    struct sysinfo info {};
    if (sysinfo(&info) != 0) return SIZE_MAX;
    return (size_t{info.totalram} + info.totalswap) * info.mem_unit;
  }();
  return bytes;
}

void check_memory(size_t bytes) {
  if (bytes > memory_bytes())
    throw RuntimeError("allocate: no memory for " + std::to_string(bytes) +
                       " bytes");
}

}  // namespace fxjit::support
