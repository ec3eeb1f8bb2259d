// Copies of short runs of memory into contiguous memory, as pixels out of
// channels are: generated rows would each be a few elements of one vector.
#pragma once

#include <optional>

#include "fxjit/dims.h"

namespace fxjit::program {

// The result is [outer..., split, entry]: `chunk` elements of the split dim are
// copied at a time, in runs of `run` elements. Elements have four bytes.
struct ShortRuns {
  Dims outer_sizes, outer_strides;
  int64_t split_size = 1, split_stride = 0;
  Dims entry_sizes, entry_strides;  // Of the dims behind the split one.
  int64_t chunk = 1;
  int run = 1;

  int64_t entry() const { return numel(entry_sizes); }
};

// Nothing where runs are long, of one element, or lie too far apart.
std::optional<ShortRuns> short_runs(const Dims& sizes, const Dims& strides);

}  // namespace fxjit::program
