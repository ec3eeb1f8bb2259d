// How each kind of step is cut into tasks. The code generator and the runtime
// must agree on it, so both ask here.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "src/program/steps/step_code.h"
#include "src/program/steps/steps.h"
#include "src/weights/panels.h"

namespace fxjit::program {

// A row step without outer dims and reductions: the row is cut into chunks of
// this many elements, a multiple of every vector width.
inline constexpr int64_t kFlatChunk = 2048;
bool is_flat(const RowStep& step);

// How a contraction is cut: a task is a panel of columns of a block of rows.
struct TileCut {
  // Tasks are numbered block by block, so that a block's lhs and results stay
  // in a cache and threads keep to their own rows from step to step; otherwise
  // panel by panel, which reads the weights once.
  bool rows_first = false;
  std::vector<int64_t> starts;  // First row of each block, then all rows.
  int64_t blocks() const { return static_cast<int64_t>(starts.size()) - 1; }
};
TileCut tile_cut(const TileStep& step, const weights::TileShape& tile);
int64_t panels(const TileStep& step, const weights::TileShape& tile);

// For an extern step it has the work alone: its routine says the tasks and the
// scratch.
KernelPlan kernel_plan(const StepBody& body, CpuLevel level);

}  // namespace fxjit::program
