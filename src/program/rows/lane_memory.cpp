#include "src/program/rows/lane_memory.h"

#include <algorithm>
#include <numeric>

#include "src/program/rows/lanes.h"
#include "src/program/rows/step.h"
#include "src/support/machine/cache_line.h"

namespace fxjit::program {
namespace {

constexpr int64_t kSmallestSecond = 256 << 10, kLargestSecond = 1 << 20;
constexpr int64_t kSecondWays = 8;
// A group of all neighbours is prefetched if the step touches more bytes than
// this.
constexpr double kMuchOfWhole = 1 << 18;

bool differs(const Access& access) { return access.outer.back() != 0; }

int64_t bytes_apart(const Access& access) {
  return access.inner * static_cast<int64_t>(dtype_size(access.dtype));
}

// Bytes of one row of all operands that differ between neighbours.
double bytes_of_row(const RowStep& step, const std::vector<Access>& operands) {
  double bytes = 0;
  for (const Access& access : operands)
    if (access.inner != 0 && differs(access))
      bytes += static_cast<double>(dtype_size(access.dtype));
  return bytes * static_cast<double>(step.inner);
}

}  // namespace

CacheSets SecondLevel::sets() const {
  return {bytes / (support::kCacheLine * kSecondWays), kSecondWays};
}

SecondLevel second_level(int64_t bytes) {
  return {std::clamp(bytes, kSmallestSecond, kLargestSecond)};
}

bool positions_collide(const RowStep& step, const std::vector<Access>& operands,
                       CacheSets cache) {
  const int64_t reach = support::kCacheLine * cache.sets;
  return std::any_of(
      operands.begin(), operands.end(), [&](const Access& access) {
        const int64_t stride = bytes_apart(access);
        const int64_t sets = reach / std::gcd(stride, reach);
        return differs(access) && stride != 0 && sets < cache.sets &&
               step.inner > sets * cache.ways;
      });
}

bool groups_share_lines(const RowStep& step) {
  return std::any_of(step.inputs.begin(), step.inputs.end(),
                     [](const Access& access) {
                       return differs(access) &&
                              bytes_apart(access) % support::kCacheLine != 0;
                     });
}

// Groups of some neighbours are prefetched if the step touches more bytes than
// the second-level cache holds.
bool asks_ahead(const RowStep& step, const LaneGroup& group,
                SecondLevel second) {
  const double bytes =
      bytes_of_row(step, step.inputs) + bytes_of_row(step, step.outputs);
  return bytes * static_cast<double>(numel(step.outer)) >
         (group.rows == step.outer.back() ? kMuchOfWhole
                                          : static_cast<double>(second.bytes));
}

// Inputs may take half of the cache; results take the other half.
bool leaves_second_level(const RowStep& step, const LaneGroup& group,
                         SecondLevel second) {
  return positions_collide(step, step.inputs, second.sets()) ||
         bytes_of_row(step, step.inputs) * static_cast<double>(group.rows) >
             static_cast<double>(second.bytes) / 2;
}

}  // namespace fxjit::program
