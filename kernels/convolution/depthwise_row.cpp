#include "kernels/convolution/depthwise_row.h"

#include <immintrin.h>

#include <cstring>

#define FXJIT_LOOPS "kernels/convolution/depthwise_loops.h"
#define FXJIT_LEVEL_CODE "kernels/convolution/depthwise_channels.h"

namespace fxjit::kernels {
namespace {

#include "kernels/level_loops.h"

}  // namespace

void depthwise_row(const DepthwiseRow& row, int64_t first, int64_t last,
                   CpuLevel level) {
  switch (level) {
    case CpuLevel::avx512:
      return avx512::row_channels(row, first, last);
    case CpuLevel::avx2:
      return avx2::row_channels(row, first, last);
    case CpuLevel::sse41:
      return sse41::row_channels(row, first, last);
  }
}

}  // namespace fxjit::kernels
