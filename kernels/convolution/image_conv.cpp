#include "kernels/convolution/image_conv.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define FXJIT_LOOPS "kernels/convolution/image_conv_loops.h"
#define FXJIT_LEVEL_CODE "kernels/convolution/image_conv_features.h"

namespace fxjit::kernels {
namespace {

// Weights are [depth, height, channels, width, features].
struct ImageRow : ConvRow {
  int64_t channels = 0;
  int64_t channel_step = 0;
  int64_t features = 0;  // Enough to fill a vector at every level.
};

#include "kernels/each_level.h"

}  // namespace

// Some places and features may be computed twice.
void ImageConv::run(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t i = begin; i < end; ++i)
    at_level(data.level,
             ImageRow{row_at(data, i), inputs_, channel_step_, channels_});
}

}  // namespace fxjit::kernels
