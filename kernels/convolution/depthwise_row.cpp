#include "kernels/convolution/depthwise_row.h"

#include <immintrin.h>

#include <cstring>

#define FXJIT_LOOPS "kernels/convolution/depthwise_loops.h"
#define FXJIT_LEVEL_CODE "kernels/convolution/depthwise_channels.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

void depthwise_row(const DepthwiseRow& row, int64_t first, int64_t last,
                   CpuLevel level) {
  at_level(level, row, first, last);
}

}  // namespace fxjit::kernels
