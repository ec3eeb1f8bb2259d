// Weights of windows that kernels read as they lie: behind one line of memory,
// whose first number is 0 if all weights are finite, else NaN.
#pragma once

#include <cstdint>
#include <span>

#include "src/support/machine/cache_line.h"

namespace fxjit::weights {

// Floats in front of the weights.
inline constexpr int64_t kWindowHead = support::kLineFloats;

// How the weights [results, taps] of one piece lie.
struct WindowLayout {
  bool used = false;  // Else the piece is no window's.
  // Results of a vector, whose taps follow one another: [vectors, taps, lanes],
  // where the last vector overlaps the one before, or is filled with zeros if
  // it is the only one. 0: in the order of the piece.
  int64_t lanes = 0;

  friend bool operator==(const WindowLayout&, const WindowLayout&) = default;
};

// Floats of the weights and what is in front of them.
int64_t window_elements(int64_t results, int64_t taps, WindowLayout layout);

// Writes the weights [results, taps] so.
void pack_windows(std::span<const float> weights, int64_t results,
                  WindowLayout layout, float* out);

}  // namespace fxjit::weights
