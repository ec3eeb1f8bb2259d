#include "kernels/convolution/grouped_row.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "fxjit/error.h"

#define FXJIT_LEVEL_CODE "kernels/convolution/grouped_loops.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

GroupedLanes::GroupedLanes(int64_t lanes, int64_t channels, int64_t inputs)
    : count(static_cast<int32_t>(lanes)) {
  const auto of = static_cast<int32_t>(channels);
  const auto in_group = static_cast<int32_t>(inputs);
  for (int32_t i = 0; i < kMost; ++i) {
    const bool used = i < count;
    place[i] = used ? i / of : std::numeric_limits<int32_t>::min() / 2;
    channel[i] = used ? i % of : 0;
    for (int32_t t = 0; t < kMost; ++t)
      turned[t][i] = used && t < in_group
                         ? i / in_group * in_group +
                               (i % in_group - t + in_group) % in_group
                         : 0;
  }
}

void grouped_row(const GroupedRow& row, CpuLevel level) {
  at_level(level, row);
}

}  // namespace fxjit::kernels
