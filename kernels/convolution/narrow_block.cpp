#include "kernels/convolution/narrow_block.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#define FXJIT_LOOPS "kernels/convolution/narrow_loops.h"
#define FXJIT_LEVEL_CODE "kernels/convolution/narrow_level.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

void narrow_block(const NarrowBlock& block, CpuLevel level) {
  at_level(level, block);
}

}  // namespace fxjit::kernels
