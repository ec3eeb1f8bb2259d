// The step of tiles: a matrix product and what is done to its sums.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/scalar_body.h"
#include "src/program/steps/skeleton.h"
#include "src/program/tiles/cut.h"
#include "src/program/tiles/form.h"
#include "src/program/tiles/row_window.h"
#include "src/weights/format.h"

namespace fxjit::program {

// out[b, m, n] = epilogue(sum_k lhs[b, m, k] * rhs[b, k, n], extras...).
// lhs has k contiguous. rhs is packed in panels (see weights/panels.h).
// Formats other than f32: at most one tile of rows, one batch. The bind stage
// chooses the format, which depends on the numbers; a plan says f32.
// Or rhs is a matrix whose rows of columns are dense, f32; then each task
// packs the panels that it reads. Panels of codes in blocks that many rows read
// are decoded by each task likewise.
// Or lhs is an image, and its rows are windows of it; then rhs is packed, not
// batched, and there is one batch.
// Operands: lhs, rhs, extras by slot from 1, outputs.
struct TileStep : Epilogue {
  int64_t batch = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  int64_t lhs_batch = 0;
  int64_t lhs_row = 0;
  bool rhs_batched = false;  // One packed matrix per batch, or one for all.
  // Elements from row to row of an rhs that is not packed, and from matrix to
  // matrix; 0 for a packed one.
  int64_t rhs_row = 0;
  int64_t rhs_batch = 0;
  RowWindow window;
  // Every sum is one chain in order of depth: a row's result does not depend on
  // how many rows are computed with it.
  bool strict = false;
  weights::Format weights = weights::Format::f32;
  weights::Blocks blocks = {};  // Of such a format; chosen as it is.
  // The types of lhs and of the sums; f32 is the only one that is made.
  DType lhs = DType::f32;
  DType sums = DType::f32;
  TileCut cut;

  using Form = TileForm;
  static constexpr const char* kName = "tile";
  static constexpr bool kWritesAnywhere = true;

  bool packs() const { return rhs_row != 0; }
  bool has_blocks() const { return weights == weights::Format::blocks; }
  bool decodes() const;
  bool makes_panels() const { return packs() || decodes(); }
  // Of the panels that the tiles read.
  weights::Format tile_format() const {
    return decodes() ? weights::Format::f32 : weights;
  }
  bool has_window() const { return !window.taps.empty(); }
  // Of a packed rhs.
  int64_t panel_bytes(int64_t width) const;
  size_t written() const { return outputs.size(); }
  void analyse(const Machine& machine);
  StepPlan plan(CpuLevel level) const;
  StepFacts facts() const;
  std::vector<InPlacePair> in_place() const;
  StepKernels<Form> kernels(CpuLevel level) const;

  friend bool operator==(const TileStep&, const TileStep&) = default;

 private:
  double lhs_elements() const;  // That are read at least once.
};

template <typename V>
void fields(Is<weights::Blocks> auto& s, V& v) {
  v("size", s.size), v("bits", s.bits), v("has_zeros", s.has_zeros);
  v("has_halves", s.has_halves);
}

template <typename V>
void fields(Is<TileStep> auto& s, V& v) {
  v("batch", s.batch), v("rows", s.rows), v("columns", s.columns);
  v("depth", s.depth), v("lhs_batch", s.lhs_batch), v("lhs_row", s.lhs_row);
  v("rhs_batched", s.rhs_batched), v("rhs_row", s.rhs_row);
  v("rhs_batch", s.rhs_batch), v("window", s.window), v("strict", s.strict);
  v("weights", s.weights), v("blocks", s.blocks);
  v("lhs", s.lhs), v("sums", s.sums);
  v("extras", s.extras), v("outputs", s.outputs), v("epilogue", s.epilogue);
  v("cut", s.cut);
}

}  // namespace fxjit::program
