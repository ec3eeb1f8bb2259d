#include "kernels/convolution/narrow_block.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#define FXJIT_LOOPS "kernels/convolution/narrow_loops.h"
#define FXJIT_LEVEL_CODE "kernels/convolution/narrow_level.h"

namespace fxjit::kernels {
namespace {

#include "kernels/level_loops.h"

}  // namespace

void narrow_block(const NarrowBlock& block, CpuLevel level) {
  switch (level) {
    case CpuLevel::avx512:
      return avx512::narrow_rows(block);
    case CpuLevel::avx2:
      return avx2::narrow_rows(block);
    case CpuLevel::sse41:
      return sse41::narrow_rows(block);
  }
}

}  // namespace fxjit::kernels
