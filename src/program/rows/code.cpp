#include "src/program/rows/code.h"

#include <algorithm>
#include <numeric>

#include "src/passes/fusing/inner_rows.h"
#include "src/program/rows/rewrite.h"
#include "src/program/rows/step.h"
#include "src/support/rounding.h"
#include "src/weights/panels.h"

namespace fxjit::program {
namespace {

using support::round_up;

// A group of rows should stay in the second-level cache.
constexpr size_t kMostCrosswiseBytes = 384 * 1024;
constexpr size_t kScratchAlign = 64;
// So many f32 fill a cache line, of which all is then used at once.
constexpr int64_t kGroupRows = 16;
// Lanes without a row are masked, so that fewer neighbours pay: the other way
// gathers each element of a row.
constexpr int64_t kLeastLaneRows = 4;
// Vectors of rows at once: what is read of a position is some cache lines,
// while all positions stay in the first-level cache.
constexpr int64_t kMostLaneVectors = 4;
constexpr int64_t kLanePositions = 256;
// The least first-level cache of the machines: sets of so many lines.
constexpr int64_t kCacheSets = 64, kCacheWays = 8;
constexpr int64_t kMostCollidingVectors = 8;
// Tasks that are left for threads.
constexpr int64_t kLeastLaneTasks = 4;

// Whether elements of the access lie together along the last outer dim only.
bool lies_crosswise(const Access& access) {
  return access.gather_slot < 0 && access.outer.back() == 1 &&
         access.inner != 0 && access.inner != 1;
}

template <typename Fn>
void for_each_access(RowStep& step, Fn fn) {
  for (size_t i = 0; i < step.inputs.size(); ++i) fn(i, step.inputs[i]);
  for (size_t i = 0; i < step.outputs.size(); ++i)
    fn(step.inputs.size() + i, step.outputs[i]);
}

bool has_neighbours(const RowStep& step, int64_t least) {
  return !step.outer.empty() &&
         (step.outer.size() == 1 || step.outer.back() >= least);
}

// Whether rows with reductions are computed side by side, one to a lane: all
// operands of neighbouring rows lie together or are the same.
bool fits_lanes(RowStep& step) {
  if (step.strict || !has_neighbours(step, kLeastLaneRows) || step.inner < 2 ||
      step.inner > passes::kLongestLaneRow || !has_reduction(step.body))
    return false;
  bool together = true, crosswise = false;
  for_each_access(step, [&](size_t operand, const Access& access) {
    const bool repeated =
        access.outer.back() == 0 && operand < step.inputs.size();
    together = together && access.gather_slot < 0 &&
               (access.outer.back() == 1 || repeated);
    crosswise = crosswise || lies_crosswise(access);
  });
  return together && crosswise;
}

// Whether lines that lie as the positions of a row push each other out of the
// first-level cache, since they share few of its sets.
bool positions_collide(const RowStep& step, const Access& access) {
  constexpr int64_t kLine = 64;
  const int64_t stride =
      access.inner * static_cast<int64_t>(dtype_size(access.dtype));
  const int64_t sets =
      kLine * kCacheSets / std::gcd(stride, kLine * kCacheSets);
  return stride != 0 && stride % kLine == 0 && step.inner > sets * kCacheWays;
}

// Of rows at once. Where positions collide, each is met once for many rows.
int64_t lane_vectors(const RowStep& step, int64_t lanes) {
  const int64_t cached =
      std::clamp<int64_t>(kLanePositions / step.inner, 1, kMostLaneVectors);
  if (std::none_of(step.inputs.begin(), step.inputs.end(),
                   [&](const Access& access) {
                     return positions_collide(step, access);
                   }))
    return cached;
  const int64_t shared = step.outer.back() / (kLeastLaneTasks * lanes);
  return std::clamp(shared, cached, kMostCollidingVectors);
}

Crosswise find_crosswise(RowStep& step, int lanes) {
  Crosswise found;
  // Short rows and few of them fill no tiles.
  if (!has_neighbours(step, kGroupRows) || step.inner * 2 < lanes) return found;
  found.rows = kGroupRows;
  // One vector more, lest all rows of a group share a cache set.
  found.pitch = round_up(step.inner, lanes) + lanes;
  for_each_access(step, [&](size_t operand, const Access& access) {
    if (!lies_crosswise(access)) return;
    found.operands.push_back({operand, found.bytes});
    const auto elements = static_cast<size_t>(found.rows * found.pitch);
    found.bytes += elements * dtype_size(access.dtype);
    found.bytes = round_up(found.bytes, kScratchAlign);
  });
  if (found.bytes > kMostCrosswiseBytes) return {};
  return found;
}

}  // namespace

bool Crosswise::holds(size_t operand) const {
  return std::any_of(
      operands.begin(), operands.end(),
      [&](const Operand& held) { return held.operand == operand; });
}

bool has_reduction(const ScalarBody& body) {
  return std::any_of(
      body.instrs.begin(), body.instrs.end(),
      [](const ScalarInstr& instr) { return is_reduction(instr.prim); });
}

RowCode row_code(const RowStep& step, CpuLevel level) {
  const int lanes = weights::tile_shape(level).lanes;
  RowStep rewritten = rewrite_rows(step);
  RowCode code;
  code.flat = is_flat(step);
  if (fits_lanes(rewritten))
    code.lanes = lanes * lane_vectors(step, lanes);
  else
    code.crosswise = find_crosswise(rewritten, lanes);
  // What lies crosswise is read as if it lay along the row.
  if (code.lanes > 0 || !code.crosswise.empty()) {
    for_each_access(rewritten, [](size_t, Access& access) {
      if (lies_crosswise(access)) access.inner = 1;
    });
  }
  code.schedule = schedule_rows(rewritten);
  code.body = std::move(rewritten.body);
  return code;
}

}  // namespace fxjit::program
