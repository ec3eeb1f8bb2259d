// Which rows and columns are cut into pieces for threads.
#include "src/program/planning/pieces.h"

#include <gtest/gtest.h>

#include "src/program/columns/step.h"
#include "src/program/rows/step.h"

namespace fxjit::program {
namespace TEST_FILE {

Machine machine_of(int threads) {
  return {.level = CpuLevel::avx2, .threads = threads};
}

Access access_of(Dims outer, int64_t inner) {
  Access access;
  access.outer = std::move(outer);
  access.inner = inner;
  return access;
}

ScalarBody root_of_sum() {
  ScalarBuilder b;
  const Scalar x = b.input(0, DType::f32);
  return b.finish({x * b.apply(Prim::rsqrt, b.apply(Prim::reduce_sum, x * x))});
}

// x / root of the sum of its squares, over the last dim.
RowStep last_dim(int64_t rows, int64_t inner) {
  RowStep step;
  step.outer = {rows};
  step.inner = inner;
  step.inputs = step.outputs = {access_of({inner}, 1)};
  step.body = root_of_sum();
  return step;
}

// The same of [items, inner, neighbours] over the second dim.
RowStep inner_dim(int64_t items, int64_t inner, int64_t neighbours) {
  RowStep step;
  step.outer = {items, neighbours};
  step.inner = inner;
  step.inputs = step.outputs = {access_of({inner * neighbours, 1}, neighbours)};
  step.body = root_of_sum();
  return step;
}

TEST(RowPieces, FewLongRowsGiveEachThreadOne) {
  EXPECT_EQ(row_pieces(last_dim(1, 120000), machine_of(2)), 2);
  EXPECT_EQ(row_pieces(last_dim(1, 120000), machine_of(8)), 8);
  EXPECT_EQ(row_pieces(last_dim(2, 120000), machine_of(8)), 4);
  EXPECT_EQ(row_pieces(last_dim(3, 120000), machine_of(4)), 4);
  EXPECT_EQ(row_pieces(last_dim(1, 7 * 16384), machine_of(7)), 7);
}

TEST(RowPieces, OneThreadOrEnoughRowsNeedNone) {
  EXPECT_EQ(row_pieces(last_dim(1, 120000), machine_of(1)), 1);
  EXPECT_EQ(row_pieces(last_dim(8, 120000), machine_of(8)), 1);
  EXPECT_EQ(row_pieces(inner_dim(4, 1000, 150), machine_of(4)), 1);
}

TEST(RowPieces, ShortRowsAndPrimesHaveNone) {
  EXPECT_EQ(row_pieces(last_dim(1, 4096), machine_of(8)), 1);
  EXPECT_EQ(row_pieces(last_dim(1, 100003), machine_of(8)), 1);
  EXPECT_EQ(row_pieces(last_dim(1, 0), machine_of(8)), 1);
}

TEST(RowPieces, NeighboursThatThreadsShareBadly) {
  // Groups meet within lines.
  EXPECT_EQ(row_pieces(inner_dim(1, 1000, 150), machine_of(2)), 4);
  // Positions are in few sets of the cache.
  EXPECT_EQ(row_pieces(inner_dim(1, 1024, 1024), machine_of(2)), 4);
  // Lines of their own, which stay in the second level.
  EXPECT_EQ(row_pieces(inner_dim(1, 500, 528), machine_of(2)), 1);
  // Elementwise work would have rows of few elements.
  EXPECT_EQ(row_pieces(inner_dim(1, 32000, 3), machine_of(2)), 1);
}

TEST(RowPieces, WhatDependsOnTheWholeRowHasNone) {
  RowStep strict = last_dim(1, 120000);
  strict.strict = true;
  EXPECT_EQ(row_pieces(strict, machine_of(2)), 1);
  RowStep counted = last_dim(1, 120000);
  ScalarBuilder b;
  const Scalar place = b.cast(b.index(1), DType::f32);
  counted.body =
      b.finish({place * b.apply(Prim::reduce_sum, b.input(0, DType::f32))});
  EXPECT_EQ(row_pieces(counted, machine_of(2)), 1);
  RowStep copied = last_dim(1, 120000);
  ScalarBuilder copy;
  copied.body = copy.finish({copy.input(0, DType::f32)});
  EXPECT_EQ(row_pieces(copied, machine_of(2)), 1);
}

ColumnStep columns(int64_t outer, int64_t reduced, int64_t inner) {
  ColumnStep step;
  step.outer = {outer};
  step.reduce = {reduced};
  step.inner = inner;
  step.inputs = {access_of({reduced * inner}, 1)};
  step.inputs[0].reduce = {inner};
  step.outputs = {access_of({inner}, 1)};
  step.outputs[0].reduce = {0};
  ScalarBuilder b;
  step.body = b.finish({b.apply(Prim::reduce_sum, b.input(0, DType::f32))});
  return step;
}

TEST(ColumnPieces, FewColumnsGiveEachThreadOne) {
  EXPECT_EQ(column_pieces(columns(1, 12000, 32), machine_of(4)), 4);
  EXPECT_EQ(column_pieces(columns(1, 12000, 32), machine_of(1)), 1);
  EXPECT_EQ(column_pieces(columns(4, 12000, 32), machine_of(4)), 1);
  EXPECT_EQ(column_pieces(columns(1, 1200, 4096), machine_of(4)), 1);
  // The second of two blocks is small.
  EXPECT_EQ(column_pieces(columns(1, 12000, 80), machine_of(2)), 2);
  EXPECT_EQ(column_pieces(columns(1, 12000, 128), machine_of(2)), 1);
}

// Rows of which none lie crosswise may go to any thread one by one.
TEST(RowPieces, RowsThatStayWholeAreShared) {
  RowStep step = last_dim(8, 16000);
  step.analyse(machine_of(8));
  const StepPlan plan = step.plan(CpuLevel::avx2);
  EXPECT_EQ(plan.tasks, 8);
  EXPECT_EQ(plan.together, 1);
  EXPECT_EQ(plan.grain, 1);
}

}  // namespace TEST_FILE
}  // namespace fxjit::program
