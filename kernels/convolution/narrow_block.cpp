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

NarrowSpread spread_of(int64_t channels, int64_t first, int64_t lanes) {
  NarrowSpread made{};
  int64_t from[NarrowSpread::kMostLanes];
  for (int64_t i = 0; i < lanes; ++i)
    from[i] = i + (first + i) / channels * channels;
  // Where the vector begins that ends with the last lane.
  const int64_t last = from[lanes - 1] - (lanes - 1);
  made.loads = std::any_of(from, from + lanes,
                           [&](int64_t at) { return at >= lanes && at < last; })
                   ? 3
                   : 2;
  made.apart[0] = made.loads == 2 ? last : lanes;
  made.apart[1] = last;
  for (int64_t i = 0; i < lanes; ++i) {
    const int64_t at = from[i];
    const bool third = made.loads == 3 && at >= 2 * lanes;
    const int64_t of_two = at < lanes ? at : at - made.apart[0] + lanes;
    made.index[0][i] = static_cast<int32_t>(third ? 0 : of_two);
    made.index[1][i] = static_cast<int32_t>(third ? at - last + lanes : i);
  }
  return made;
}

}  // namespace

NarrowSpreads::NarrowSpreads(int64_t channels) {
  for (size_t i = 0; i < of_.size(); ++i)
    for (int64_t first = 0; first < channels; ++first)
      of_[i].push_back(spread_of(channels, first, int64_t{4} << i));
}

void narrow_block(const NarrowBlock& block, CpuLevel level) {
  at_level(level, block);
}

}  // namespace fxjit::kernels
