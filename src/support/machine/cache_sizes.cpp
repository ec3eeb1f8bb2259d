#include "src/support/machine/cache_sizes.h"

#include <unistd.h>

namespace fxjit::support {

std::array<size_t, 3> cache_sizes() {
  std::array<size_t, 3> sizes{size_t{32} << 10, size_t{1} << 20,
                              size_t{32} << 20};
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                       _SC_LEVEL3_CACHE_SIZE};
  for (size_t i = 0; i < sizes.size(); ++i)
    if (const long known = sysconf(names[i]); known > 0)
      sizes[i] = static_cast<size_t>(known);
  return sizes;
}

}  // namespace fxjit::support
