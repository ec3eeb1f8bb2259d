// How a contraction is cut: a task is a panel of columns of a block of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "src/program/tiles/step.h"
#include "src/weights/panels.h"

namespace fxjit::program {

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

}  // namespace fxjit::program
