#include "src/program/rows/code.h"

#include <algorithm>

#include "src/program/rows/lane_memory.h"
#include "src/program/rows/step.h"
#include "src/support/machine/cache_line.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::kLineFloats;
using support::round_up;

// Most bytes of scratch for a group of crosswise rows, which should stay in the
// second-level cache.
constexpr size_t kMostCrosswiseBytes = 384 * 1024;
constexpr size_t kScratchAlign = 64;

template <typename Fn>
void for_each_access(RowStep& step, Fn fn) {
  for (size_t i = 0; i < step.inputs.size(); ++i) fn(i, step.inputs[i]);
  for (size_t i = 0; i < step.outputs.size(); ++i)
    fn(step.inputs.size() + i, step.outputs[i]);
}

// Whether the neighbours of dim `d + 1` and those of dim `d` of all crosswise
// operands follow one another.
bool follow(const RowStep& step, int d) {
  const auto fits = [&](const Access& access) {
    return !lies_crosswise(access) ||
           access.outer[d] == access.outer[d + 1] * step.outer[d + 1];
  };
  return std::ranges::all_of(step.inputs, fits) &&
         std::ranges::all_of(step.outputs, fits);
}

// Rows of one dim need no division for their places: more dims only where one
// has few.
int neighbour_dims(const RowStep& step) {
  const int dims = step.outer.size();
  int span = 1;
  if (step.outer.back() >= kLineFloats) return span;
  while (span < dims && follow(step, dims - span - 1)) ++span;
  return span;
}

Crosswise find_crosswise(RowStep& step, int lanes) {
  Crosswise found;
  // Transposing pays for whole tiles only: many rows, and none too short.
  if (!has_neighbours(step) || step.inner * 2 < lanes) return found;
  found.rows = kLineFloats;
  found.span = neighbour_dims(step);
  // One vector more than the row needs, so that the rows of a group do not all
  // fall into the same cache set.
  found.pitch = round_up(step.inner, lanes) + lanes;
  for_each_access(step, [&](size_t operand, const Access& access) {
    if (!lies_crosswise(access)) return;
    found.operands.push_back({operand, found.bytes});
    const auto elements = static_cast<size_t>(found.rows * found.pitch);
    found.bytes += elements * dtype_size(access.dtype);
    found.bytes = round_up(found.bytes, kScratchAlign);
  });
  if (found.empty() || found.bytes > kMostCrosswiseBytes) return {};
  return found;
}

// Most bytes that the row buffers of a lane group may take in scratch; larger
// ones are kept in the results instead. Buffers of all neighbours get half of
// the second-level cache, so that they do not evict other data. Buffers of a
// group get an eighth, since the group itself has to stay there too, and more
// if the positions of the results, which would hold them otherwise, evict each
// other.
size_t most_in_scratch(const RowStep& step, const LaneGroup& group,
                       SecondLevel second) {
  const auto collide = [&](CacheSets cache) {
    return positions_collide(step, step.outputs, cache);
  };
  const auto bytes = static_cast<size_t>(second.bytes);
  if (group.rows == step.outer.back()) return bytes / 2;
  if (collide(second.sets())) return bytes;
  return collide(kFirstLevel) ? bytes / 2 : bytes / 8;
}

// Whether rows that are walked one by one keep their buffers in the results,
// which then are in the first-level cache when they are written for good. Not
// measured with AVX-512.
bool holds_whole_rows(const RowStep& step, const RowCode& code,
                      CpuLevel level) {
  return level != CpuLevel::avx512 && code.crosswise.empty() &&
         step.inner % support::vector_lanes(level) == 0 &&
         std::ranges::all_of(step.outputs, [](const Access& access) {
           return access.inner == 0 || access.inner == 1;
         });
}

}  // namespace

bool Crosswise::holds(size_t operand) const {
  return std::any_of(
      operands.begin(), operands.end(),
      [&](const Operand& held) { return held.operand == operand; });
}

bool has_neighbours(const RowStep& step) {
  if (step.outer.size() < 2) return !step.outer.empty();
  int64_t rows = 1;
  for (int d = 1; d <= neighbour_dims(step); ++d)
    rows *= step.outer[step.outer.size() - d];
  return rows >= kLineFloats;
}

bool lies_crosswise(const Access& access) {
  return access.gather_slot < 0 && !access.outer.empty() &&
         access.outer.back() == 1 && access.inner != 0 && access.inner != 1;
}

void read_along(RowStep& step) {
  for_each_access(step, [](size_t, Access& access) {
    if (lies_crosswise(access)) access.inner = 1;
  });
}

bool has_reduction(const ScalarBody& body) {
  return std::any_of(
      body.instrs.begin(), body.instrs.end(),
      [](const ScalarInstr& instr) { return is_reduction(instr.prim); });
}

RowCode row_code(const RowStep& step, const Machine& machine) {
  const int lanes = support::vector_lanes(machine.level);
  const SecondLevel second = second_level(machine.cache_bytes);
  RowStep read = step;
  RowCode code;
  code.flat = is_flat(step);
  code.lanes = lane_group(step, lanes, second);
  if (code.lanes.empty()) code.crosswise = find_crosswise(read, lanes);
  if (!code.lanes.empty() || !code.crosswise.empty()) read_along(read);
  code.schedule = schedule_rows(read);
  const bool keeps =
      code.lanes.empty()
          ? holds_whole_rows(step, code, machine.level)
          : code.scratch_bytes() > most_in_scratch(step, code.lanes, second);
  if (keeps) keep_in_results(read, code.schedule);
  return code;
}

}  // namespace fxjit::program
