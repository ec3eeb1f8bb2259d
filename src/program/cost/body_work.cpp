#include "src/program/cost/body_work.h"

#include <algorithm>

#include "src/ops/table/prims.h"

namespace fxjit::program {
namespace {

// Work below this many elements is not worth a hand-over between threads.
constexpr double kGrainElements = 4096;

}  // namespace

double body_cost(const ScalarBody& body) {
  double cost = 0;
  for (const ScalarInstr& instr : body.instrs) cost += prim_cost(instr.prim);
  return cost;
}

double operations(const ScalarInstr& instr, CpuLevel level) {
  return 2 * limit_cost(instr.prim, level);
}

double body_operations(const ScalarBody& body, CpuLevel level) {
  double count = 0;
  for (const ScalarInstr& instr : body.instrs)
    count += operations(instr, level);
  return count;
}

double extent(const Dims& sizes, const Dims& strides) {
  double count = 1;
  for (int d = 0; d < sizes.size() && d < strides.size(); ++d)
    if (strides[d] != 0) count *= static_cast<double>(sizes[d]);
  return count;
}

double touched_bytes(const Loops& loops) {
  double bytes = 0;
  const auto add = [&](const Access& access) {
    const double outer = access.gather_slot >= 0
                             ? static_cast<double>(numel(loops.outer))
                             : extent(loops.outer, access.outer);
    bytes += outer * extent(loops.reduce, access.reduce) *
             (access.inner != 0 ? static_cast<double>(loops.inner) : 1.0) *
             static_cast<double>(dtype_size(access.dtype));
  };
  for (const Access& access : loops.inputs) add(access);
  for (const Access& access : loops.outputs) add(access);
  return bytes;
}

int64_t grain_of(double enough, double each) {
  return std::max<int64_t>(1,
                           static_cast<int64_t>(enough / std::max(1.0, each)));
}

int64_t grain_of_elements(int64_t elements, double cost) {
  return grain_of(kGrainElements,
                  static_cast<double>(elements) * std::max(1.0, cost / 8));
}

}  // namespace fxjit::program
