#include "kernels/convolution/image_conv_row.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define FXJIT_LOOPS "kernels/convolution/image_conv_loops.h"
#define FXJIT_LEVEL_CODE "kernels/convolution/image_conv_features.h"

namespace fxjit::kernels {
namespace {

#include "kernels/level_loops.h"

}  // namespace

void image_row(const ImageRow& row, CpuLevel level) {
  switch (level) {
    case CpuLevel::avx512:
      return avx512::row_features(row);
    case CpuLevel::avx2:
      return avx2::row_features(row);
    case CpuLevel::sse41:
      return sse41::row_features(row);
  }
}

}  // namespace fxjit::kernels
