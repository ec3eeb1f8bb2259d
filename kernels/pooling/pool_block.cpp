#include "kernels/pooling/pool_block.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "fxjit/cpu_level.h"

namespace fxjit::kernels {
namespace {

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
namespace avx512 {
#define FXJIT_LANES 16
#include "kernels/pooling/pool_loops.h"
#undef FXJIT_LANES
}  // namespace avx512
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#define FXJIT_LANES 8
#include "kernels/pooling/pool_loops.h"
#undef FXJIT_LANES
}  // namespace avx2
#pragma GCC pop_options

namespace sse41 {
#define FXJIT_LANES 4
#include "kernels/pooling/pool_loops.h"
#undef FXJIT_LANES
}  // namespace sse41

}  // namespace

int64_t PoolBlock::widest(int64_t channels) {
  return *std::ranges::find_if(
      kWidths, [&](int64_t width) { return width <= channels; });
}

void pool_block(const PoolBlock& block) {
  switch (host_cpu_level()) {
    case CpuLevel::avx512:
      return avx512::pool(block);
    case CpuLevel::avx2:
      return avx2::pool(block);
    case CpuLevel::sse41:
      return sse41::pool(block);
  }
}

}  // namespace fxjit::kernels
