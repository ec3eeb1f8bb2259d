#include "src/weights/windows.h"

#include <algorithm>

#include "src/support/rounding.h"

namespace fxjit::weights {

int64_t window_elements(int64_t results, int64_t taps, WindowLayout layout) {
  const int64_t filled =
      layout.lanes == 0 ? results : support::round_up(results, layout.lanes);
  return kWindowHead + filled * taps;
}

void pack_windows(std::span<const float> weights, int64_t results,
                  WindowLayout layout, float* out) {
  const auto count = static_cast<int64_t>(weights.size());
  std::fill_n(out, kWindowHead, 0.0f);
  for (const float weight : weights) out[0] += 0 * weight;
  out += kWindowHead;
  if (layout.lanes == 0) {
    std::ranges::copy(weights, out);
    return;
  }
  const int64_t lanes = layout.lanes;
  const int64_t taps = results == 0 ? 0 : count / results;
  for (int64_t begin = 0; begin < results; begin += lanes) {
    const int64_t first =
        std::min(begin, std::max<int64_t>(0, results - lanes));
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const int64_t result = first + lane;
        *out++ = result < results
                     ? weights[static_cast<size_t>(result * taps + tap)]
                     : 0.0f;
      }
  }
}

}  // namespace fxjit::weights
