#include "src/program/rows/code.h"

#include "src/program/rows/rewrite.h"
#include "src/weights/panels.h"

namespace fxjit::program {
namespace {

// A group of rows should stay in the second-level cache.
constexpr size_t kMostCrosswiseBytes = 384 * 1024;
constexpr size_t kScratchAlign = 64;
// So many f32 fill a cache line, of which all is then used at once.
constexpr int64_t kGroupRows = 16;

int64_t round_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

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

Crosswise find_crosswise(RowStep& step, int lanes) {
  Crosswise found;
  // Short rows and few of them fill no tiles.
  if (step.outer.empty() || step.inner * 2 < lanes) return found;
  if (step.outer.size() > 1 && step.outer.back() < kGroupRows) return found;
  found.rows = kGroupRows;
  // One vector more, lest all rows of a group share a cache set.
  found.pitch = round_up(step.inner, lanes) + lanes;
  for_each_access(step, [&](size_t operand, const Access& access) {
    if (!lies_crosswise(access)) return;
    found.operands.push_back({operand, access.inner, found.bytes});
    const auto elements = static_cast<size_t>(found.rows * found.pitch);
    found.bytes += elements * dtype_size(access.dtype);
    found.bytes =
        (found.bytes + kScratchAlign - 1) / kScratchAlign * kScratchAlign;
  });
  if (found.bytes > kMostCrosswiseBytes) return {};
  return found;
}

}  // namespace

RowCode row_code(const RowStep& step, CpuLevel level) {
  RowCode code;
  code.step = rewrite_rows(step);
  code.crosswise = find_crosswise(code.step, weights::tile_shape(level).lanes);
  if (!code.crosswise.empty()) {
    for_each_access(code.step, [](size_t, Access& access) {
      if (lies_crosswise(access)) access.inner = 1;
    });
  }
  code.schedule = schedule_rows(code.step);
  return code;
}

}  // namespace fxjit::program
