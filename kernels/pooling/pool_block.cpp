#include "kernels/pooling/pool_block.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "fxjit/cpu_level.h"

#define FXJIT_LEVEL_CODE "kernels/pooling/pool_loops.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

int64_t PoolBlock::widest(int64_t channels) {
  return *std::ranges::find_if(
      kWidths, [&](int64_t width) { return width <= channels; });
}

void pool_block(const PoolBlock& block) { at_level(host_cpu_level(), block); }

}  // namespace fxjit::kernels
