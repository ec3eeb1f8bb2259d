// Whole numbers that hold what does not come out even: pieces of a whole, and
// sizes in whole lines, pages or vectors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fxjit::support {

// How many pieces of size `b` hold `a`.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The least multiple that is not below `value`.
constexpr int64_t round_up(int64_t value, int64_t multiple) {
  return ceil_div(value, multiple) * multiple;
}
constexpr size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace fxjit::support
