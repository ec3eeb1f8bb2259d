#include "src/program/rows/lanes.h"

#include <algorithm>

#include "src/passes/fusing/inner_rows.h"
#include "src/program/cost/body_work.h"
#include "src/program/rows/code.h"
#include "src/program/rows/schedule.h"
#include "src/program/rows/step.h"
#include "src/support/machine/cache_line.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::ceil_div;
using support::kLineFloats;
using support::round_up;

// Fewest neighbouring rows for which lanes are used where there are several
// outer dims. With fewer, too many lanes of a vector would be idle, unless a
// vector holds several positions of each row.
constexpr int64_t kLeastRows = 4;
// A group is at most kMostVectors vectors wide, so that a read at one position
// takes a few cache lines, and all positions of the group take at most
// kCachedBytes, which is a part of the first-level cache.
constexpr int64_t kMostVectors = 4;
constexpr int64_t kCachedBytes = 16 * 1024;
// Longer rows are read from the second-level cache, which is slow at many
// positions of few lines each, and processors fetch lines in pairs: groups are
// then at least kLeastLines and at most kMostFarVectors wide. So are rows whose
// groups share cache lines (kLeastSharedLines), since two groups would read
// each of these. Where the positions of a row fall into the same cache sets,
// the second-level cache holds only kCollidingBytes of them.
constexpr int64_t kFirstLevelRow = 512;
constexpr int64_t kMostFarVectors = 8;
constexpr int64_t kLeastLines = 2, kLeastSharedLines = 4;
constexpr int64_t kCollidingBytes = 256 * 1024;
// Most positions of a row that one vector round may hold: a row buffer is
// longer than the row by no more than this.
constexpr int64_t kMostShared = kBufferSlack / sizeof(double);
// A round of up to kFewVectors vectors is always short code. A longer one is
// taken if its reductions fill at most kMostReduced vectors and its operations,
// in units of prim_cost(), are at most kLongCode.
constexpr int64_t kFewVectors = 8;
constexpr int64_t kMostReduced = 40;
constexpr double kLongCode = 1024;
// Most neighbours for which row buffers have room.
constexpr int64_t kMostKeptRows = 256;
// Rows up to this length leave room for many neighbours in the first-level
// cache.
constexpr int64_t kLaneRow = 64;
// Most elements of a round in which several positions share a vector.
constexpr int64_t kMostElements = 64;
constexpr int64_t kWidestLanes = 16;  // AVX-512's.

template <typename Fn>
bool all_accesses(const RowStep& step, Fn fn) {
  return std::all_of(step.inputs.begin(), step.inputs.end(), fn) &&
         std::all_of(step.outputs.begin(), step.outputs.end(), fn);
}

// Whether each operand has the elements of neighbouring rows side by side, or
// one element for all of them. Results must have them side by side.
bool lie_together(const RowStep& step) {
  const auto fits = [](const Access& access) {
    return access.gather_slot < 0 &&
           (access.outer.back() == 0 || access.outer.back() == 1);
  };
  const auto written = [](const Access& access) {
    return access.outer.back() == 1;
  };
  return all_accesses(step, fits) &&
         std::all_of(step.outputs.begin(), step.outputs.end(), written) &&
         !all_accesses(step,
                       [](const Access& a) { return !lies_crosswise(a); });
}

int64_t most_vectors(const RowStep& step, int64_t lanes, SecondLevel second) {
  const int64_t position = lanes * static_cast<int64_t>(sizeof(float));
  const int64_t cached = std::clamp(
      kCachedBytes / (step.inner * position),
      std::max<int64_t>(support::kCacheLine / position, 1), kMostVectors);
  const bool collide = positions_collide(step, step.inputs, kFirstLevel);
  const bool slow = collide || groups_share_lines(step);
  if (!slow && step.inner <= kFirstLevelRow) return cached;
  const int64_t least_tasks = step.serial ? 1 : passes::kLeastTasks;
  const int64_t tasks = numel(step.outer) / (least_tasks * lanes);
  const int64_t held = collide ? kCollidingBytes : second.bytes;
  const int64_t least =
      (slow ? kLeastSharedLines : kLeastLines) * support::kCacheLine;
  const int64_t kept = std::max(held / step.inner, least) / position;
  return std::clamp(std::min(tasks, kept), cached, kMostFarVectors);
}

// The cost, in floats, of storing the last `elements` of a round that fill no
// whole vector: such stores are slow except on AVX-512, whose masks are
// registers.
int64_t cost_of_part(int64_t elements, int64_t lanes) {
  const bool slow = elements % lanes != 0 && lanes < kWidestLanes;
  return slow ? 2 * lanes : 0;
}

// The cost, in floats, of one position of all neighbours when groups of
// `vectors` vectors compute them. Each group touches one cache line more than
// it has data. The rest of the neighbours is computed as RowsEmitter does it:
// by one more group that overlaps the last one, or vector by vector.
int64_t split_cost(int64_t neighbours, int64_t vectors, int64_t lanes) {
  const int64_t rows = vectors * lanes;
  const int64_t left = neighbours % rows;
  const bool again = left * 2 > rows && neighbours > rows;
  const int64_t groups = neighbours / rows + (again ? 1 : 0);
  const int64_t singles = again ? 0 : ceil_div(left, lanes);
  const int64_t part = neighbours < lanes ? cost_of_part(neighbours, lanes) : 0;
  return groups * (rows + kLineFloats) + singles * (lanes + kLineFloats) + part;
}

LaneGroup split_group(const RowStep& step, int64_t lanes, SecondLevel second) {
  const int64_t neighbours = step.outer.back();
  const int64_t most =
      std::min(most_vectors(step, lanes, second), neighbours / lanes);
  int64_t best = 1;
  for (int64_t vectors = 2; vectors <= most; vectors *= 2)
    if (split_cost(neighbours, vectors, lanes) <=
        split_cost(neighbours, best, lanes))
      best = vectors;
  return {best * lanes, best * lanes, 1};
}

// Whether each operand's positions follow one another in memory without gaps,
// each with the elements of all neighbours.
bool follow_one_another(const RowStep& step) {
  const int64_t rows = step.outer.back();
  return all_accesses(step, [&](const Access& access) {
    const bool repeated = access.outer.back() == 0;
    return access.inner == 0 || access.inner == (repeated ? 1 : rows);
  });
}

// A group of all neighbours: a task then walks their memory from its beginning
// to its end.
LaneGroup whole_group(const RowStep& step, int64_t elements) {
  const int64_t rows = step.outer.back();
  const int64_t most = follow_one_another(step) ? kMostShared : 1;
  return {rows, elements, std::min({elements / rows, most, step.inner})};
}

// Whether a group may have more neighbours than row buffers have room for. It
// may if no values are kept in row buffers, and if a second pass over a smaller
// group would not find it in the first-level cache either.
bool suits_many(RowStep step) {
  read_along(step);
  const RowSchedule schedule = schedule_rows(step);
  return schedule.buffers.empty() &&
         (schedule.passes.size() <= 2 || step.inner > kLaneRow);
}

// Whether unrolled code for `vectors` vectors takes long to compile or runs
// slowly, because results of reductions are spilled to memory and row buffers
// of all neighbours leave the second-level cache.
bool is_long(const RowStep& step, int64_t vectors) {
  return vectors > kFewVectors &&
         (vectors > kMostReduced ||
          (step.outer.back() > kMostKeptRows && !suits_many(step)) ||
          static_cast<double>(vectors) * body_cost(step.body) > kLongCode);
}

int64_t work(const RowStep& step, const LaneGroup& group, int64_t lanes) {
  const int64_t neighbours = step.outer.back();
  if (group.rows != neighbours)
    return step.inner * split_cost(neighbours, group.rows / lanes, lanes);
  const int64_t round =
      group.elements + cost_of_part(group.positions * neighbours, lanes);
  // Where a vector has several positions of a row, each sum is first one of
  // each position; these are added up and broadcast to all lanes.
  const int64_t met =
      group.positions > 1 ? group.positions * lanes + group.elements : 0;
  return ceil_div(step.inner, group.positions) * round + met;
}

}  // namespace

LaneGroup lane_group(const RowStep& step, int lanes, SecondLevel second) {
  if (step.strict || step.outer.empty() || !has_reduction(step.body) ||
      !passes::suits_lanes(step.inner, step.outer.back()) ||
      !lie_together(step))
    return {};
  const int64_t neighbours = step.outer.back();
  LaneGroup best = split_group(step, lanes, second);
  const int64_t outer = numel(step.outer) / neighbours;
  if (neighbours < lanes ||
      passes::take_all_neighbours(outer, step.inner, neighbours, step.serial))
    for (int64_t least = round_up(neighbours, int64_t{lanes}), elements = least;
         elements <= std::max(least, kMostElements); elements += lanes) {
      const LaneGroup group = whole_group(step, elements);
      if (is_long(step, elements / lanes)) continue;
      if (work(step, group, lanes) < work(step, best, lanes)) best = group;
    }
  const bool few = step.outer.size() > 1 && neighbours < kLeastRows;
  if (few && best.positions == 1) return {};
  best.asks_ahead = asks_ahead(step, best, second);
  best.turns = leaves_second_level(step, best, second);
  return best;
}

}  // namespace fxjit::program
