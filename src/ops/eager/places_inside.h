// Which places of a window have an element inside the image, for loops that
// take windows element by element.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "src/support/rounding.h"

namespace fxjit::ops {

// The places [first, second) of a row of `places` whose element lies in a row
// of `size` elements. It lies at `at` for the first place, and `stride` further
// for each next one.
inline std::pair<int64_t, int64_t> places_inside(int64_t at, int64_t stride,
                                                 int64_t size, int64_t places) {
  const auto before = [&](int64_t position) {
    const int64_t distance = position - at;
    return distance > 0 ? std::min(support::ceil_div(distance, stride), places)
                        : 0;
  };
  return {before(0), before(size)};
}

}  // namespace fxjit::ops
