// How a contraction is cut: a task is a panel of columns, or a group of them
// that it packs, of a block of rows.
#pragma once

#include <cstdint>
#include <vector>

#include "src/program/steps/fields.h"
#include "src/weights/panels.h"

namespace fxjit::program {

struct TileStep;

struct TileCut {
  // Tasks are numbered block by block, so that a block's lhs and results stay
  // in a cache and threads keep to their own rows from step to step; otherwise
  // panel by panel, which reads the weights once.
  bool rows_first = false;
  std::vector<int64_t> starts;  // First row of each block, then all rows.
  int64_t panels = 0;           // Of a matrix.
  int64_t group = 1;            // Panels of a task.
  int64_t blocks() const { return static_cast<int64_t>(starts.size()) - 1; }
  int64_t most_rows() const;  // Of a block.
  int64_t groups() const { return (panels + group - 1) / group; }

  friend bool operator==(const TileCut&, const TileCut&) = default;
};

template <typename V>
void fields(Is<TileCut> auto& s, V& v) {
  v("rows_first", s.rows_first), v("starts", s.starts);
  v("panels", s.panels), v("group", s.group);
}

TileCut tile_cut(const TileStep& step, const weights::RegisterTile& tile);

}  // namespace fxjit::program
