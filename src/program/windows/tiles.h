// How many results of a window are computed together.
#pragma once

#include <cstdint>

#include "fxjit/cpu_level.h"

namespace fxjit::program {

struct WindowStep;

// Rows, vectors or places of each of them, and vectors at each place.
struct WindowTile {
  int64_t rows = 1, across = 1, vectors = 1;
};
// Of windows that sum the channels of groups, rows of no more taps are code
// one after the other.
constexpr int64_t kMostTapsInCode = 7;

WindowTile window_tile(const WindowStep& step, CpuLevel level);

// Planes of more bytes are read and written from beyond the second-level cache,
// where few streams at a time do better.
bool is_large_plane(const WindowStep& step);

}  // namespace fxjit::program
