#include "kernels/convolution/depthwise.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define FXJIT_LOOPS "kernels/convolution/depthwise_loops.h"
#define FXJIT_LEVEL_CODE "kernels/convolution/depthwise_channels.h"

namespace fxjit::kernels {
namespace {

// Weights are [taps, channels].
struct DepthwiseRow : ConvRow {
  int64_t channels = 0;
};

#include "kernels/each_level.h"

// Rows and channels whose input stays in the caches while windows move over it.
constexpr int64_t kBandRows = 16;
constexpr int64_t kBandChannels = 128;

}  // namespace

// Few channels at a time keep the input of following rows in the first-level
// cache. Some before the first of them may be computed again.
void Depthwise::run(const Data& data, int64_t begin, int64_t end) const {
  for (int64_t band = begin; band < end; band += kBandRows)
    for (int64_t c = 0; c < channels_; c += kBandChannels)
      for (int64_t i = band; i < std::min(band + kBandRows, end); ++i)
        at_level(data.level, DepthwiseRow{row_at(data, i), channels_}, c,
                 std::min(c + kBandChannels, channels_));
}

}  // namespace fxjit::kernels
