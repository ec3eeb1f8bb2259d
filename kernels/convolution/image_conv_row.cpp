#include "kernels/convolution/image_conv_row.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define FXJIT_LOOPS "kernels/convolution/image_conv_loops.h"
#define FXJIT_LEVEL_CODE "kernels/convolution/image_conv_features.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

void image_row(const ImageRow& row, CpuLevel level) {
  at_level(level, row);
}

}  // namespace fxjit::kernels
