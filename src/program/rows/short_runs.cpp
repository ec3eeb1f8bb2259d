#include "src/program/rows/short_runs.h"

#include <algorithm>
#include <limits>

#include "src/program/steps/loop_dims.h"

namespace fxjit::program {
namespace {

// Rows of the result that fill vectors are left to generated code, which also
// does well where another dim lies innermost.
constexpr int64_t kLongRow = 16;
// Elements of a block: their places stay in the first-level cache.
constexpr int64_t kBlock = 4096;

int run_of(int64_t size) {
  return size == 2 || size == 4 || size == 8 ? static_cast<int>(size) : 1;
}

// The place of the last run of a chunk; the first is at 0.
int64_t last_place(const ShortRuns& runs) {
  int64_t place = (runs.chunk - 1) * runs.split_stride;
  const int last = runs.entry_sizes.size() - (runs.run > 1 ? 1 : 0);
  for (int d = 0; d < last; ++d)
    place += (runs.entry_sizes[d] - 1) * runs.entry_strides[d];
  return place;
}

}  // namespace

std::optional<ShortRuns> short_runs(const Dims& all_sizes,
                                    const Dims& all_strides) {
  if (numel(all_sizes) == 0) return std::nullopt;
  const LoopDims joined = join_dims({all_sizes, {all_strides}});
  const Dims &sizes = joined.sizes, &strides = joined.strides[0];
  if (sizes.size() < 2 || sizes.back() >= kLongRow || strides.back() != 1)
    return std::nullopt;
  ShortRuns runs;
  int split = sizes.size() - 1;
  int64_t entry = 1;
  while (split > 0 && entry * sizes[split] <= kBlock) entry *= sizes[split--];
  runs.run = run_of(sizes.back());
  runs.split_size = sizes[split];
  runs.split_stride = strides[split];
  runs.chunk = std::clamp<int64_t>(kBlock / entry, 1, sizes[split]);
  for (int d = 0; d < sizes.size(); ++d) {
    if (d == split) continue;
    (d < split ? runs.outer_sizes : runs.entry_sizes).push_back(sizes[d]);
    (d < split ? runs.outer_strides : runs.entry_strides).push_back(strides[d]);
  }
  if (last_place(runs) > std::numeric_limits<int32_t>::max())
    return std::nullopt;
  return runs;
}

}  // namespace fxjit::program
