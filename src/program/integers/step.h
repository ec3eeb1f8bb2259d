// The step of integer tiles: products of integers of 8 or 16 bits with exact
// sums of 32 bits, which wrap, and what is done to the sums.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/cpu_level.h"
#include "fxjit/scalar_body.h"
#include "src/program/integers/form.h"
#include "src/program/steps/skeleton.h"
#include "src/weights/format.h"

namespace fxjit::program {

// A dim of the left-hand side, outermost first; strides are in elements.
struct IntegerAxis {
  int64_t size = 1;
  int64_t stride = 0;

  friend bool operator==(const IntegerAxis&, const IntegerAxis&) = default;
};

template <typename V>
void fields(Is<IntegerAxis> auto& s, V& v) {
  v("size", s.size), v("stride", s.stride);
}

// out[b, m, n] = epilogue(sum_k lhs[b, m, k] * rhs[b, k, n], extras...), with
// lhs and rhs of u8 or i8, rhs packed in quads (weights/quads.h), or both of
// i16, rhs packed in pairs. Rows and depth of lhs are several dims each where
// it is a window over an image; the last of the depth is contiguous. The bind
// stage chooses how many quads are added in 16 bits, which depends on the
// numbers. Operands: lhs, packed rhs, extras by slot from 1, outputs.
struct IntegerStep : Epilogue {
  int64_t batch = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  int64_t lhs_batch = 0;     // Elements from batch to batch.
  bool rhs_batched = false;  // A matrix for each batch.
  std::vector<IntegerAxis> row_axes, depth_axes;
  DType lhs = DType::u8;
  DType rhs = DType::i8;
  weights::Format weights = weights::Format::quads1;
  bool has_dots = false;      // See Machine::dot_products.
  int64_t tile_rows = 0;      // Rows of a task.
  int64_t block_columns = 0;  // Columns of a task.

  using Form = IntegerForm;
  static constexpr const char* kName = "integer_tile";
  static constexpr bool kWritesAnywhere = true;

  int64_t depth_bytes() const;
  int64_t row_tiles() const;
  int64_t column_blocks() const;
  size_t written() const { return outputs.size(); }
  QuadSums adds() const;
  // Of a vector, or rows of a tile.
  int lanes(CpuLevel level) const;
  // Whether its few rows are taken one by one, with columns in the lanes. Tile
  // registers take no longer for 16 rows than for one, which is as long as
  // `vpdpbusd` takes for two; setting them up makes it four.
  bool has_single_rows(int lanes) const { return rows <= lanes / 4; }
  void analyse(const Machine& machine);
  StepPlan plan(CpuLevel level) const;
  StepFacts facts() const;
  std::vector<InPlacePair> in_place() const { return epilogue_pairs(); }
  StepKernels<Form> kernels(CpuLevel level) const;

  friend bool operator==(const IntegerStep&, const IntegerStep&) = default;
};

template <typename V>
void fields(Is<IntegerStep> auto& s, V& v) {
  v("batch", s.batch), v("rows", s.rows), v("columns", s.columns),
      v("depth", s.depth);
  v("lhs_batch", s.lhs_batch), v("rhs_batched", s.rhs_batched);
  v("row_axes", s.row_axes), v("depth_axes", s.depth_axes);
  v("lhs", s.lhs), v("rhs", s.rhs);
  v("weights", s.weights), v("has_dots", s.has_dots);
  v("extras", s.extras), v("outputs", s.outputs);
  v("epilogue", s.epilogue), v("tile_rows", s.tile_rows);
  v("block_columns", s.block_columns);
}

}  // namespace fxjit::program
