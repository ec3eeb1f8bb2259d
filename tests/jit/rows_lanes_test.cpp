// Rows with reductions of which neighbours lie side by side: each has lanes of
// its own.
#include <gtest/gtest.h>

#include "tests/jit/lane_steps.h"
#include "tests/support/analysed.h"

namespace fxjit::jit::testing {
namespace TEST_FILE {

constexpr CpuLevel kLevels[] = {CpuLevel::sse41, CpuLevel::avx2,
                                CpuLevel::avx512};

void expect_lanes(const RowStep& step, bool lanes = true) {
  for (CpuLevel level : kLevels)
    EXPECT_EQ(program::analysed(step, level).code.lanes.empty(), !lanes);
}

// At the widest level; whether positions share vectors of narrower ones is a
// matter of sizes.
void expect_shared(const RowStep& step) {
  EXPECT_GT(program::analysed(step, CpuLevel::avx512).code.lanes.positions, 1);
}

TEST(LaneRows, Softmax) {
  for (int64_t inner : {2, 3, 8, 50, 130, 300})
    for (int64_t rows : {4, 7, 15, 16, 17, 63, 64, 65, 130}) {
      ScalarBuilder b;
      RowStep step = lanes_step(3, inner, rows);
      step.body = b.finish({softmax(b.input(0, DType::f32))});
      expect_lanes(step);
      check_step(step, {.units = 64});
    }
}

// Of which positions share vectors: all that come out even, and rests of all
// sizes.
TEST(LaneRows, SharedSoftmax) {
  for (int64_t rows : {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 17, 20, 24, 31})
    for (int64_t inner : {6, 7, 16, 21, 50, 133, 1111}) {
      ScalarBuilder b;
      RowStep step = lanes_step(3, inner, rows);
      step.body = b.finish({softmax(b.input(0, DType::f32))});
      check_step(step, {.units = 64});
    }
  for (int64_t rows : {2, 3, 5, 7, 8, 17, 20}) {
    ScalarBuilder b;
    RowStep step = lanes_step(3, 21, rows);
    step.body = b.finish({softmax(b.input(0, DType::f32))});
    expect_shared(step);
  }
}

TEST(LaneRows, LongSums) {
  for (int64_t rows : {3, 16, 70})
    for (int64_t inner : {511, 513, 1030, 2048, 9001}) {
      ScalarBuilder b;
      RowStep step = lanes_step(2, inner, rows);
      const Scalar x = b.input(0, DType::f32);
      step.body = b.finish({normalised(x, inner)});
      expect_lanes(step);
      check_step(step, {.units = 64});
    }
}

// Threads take whole groups and whole cache lines of a position.
TEST(LaneRows, GroupsAreNotParted) {
  for (int64_t rows : {128, 528, 1001}) {
    ScalarBuilder b;
    RowStep step = lanes_step(1, 400, rows);
    step.body = b.finish({softmax(b.input(0, DType::f32))});
    for (CpuLevel level : kLevels) {
      const int64_t together =
          program::analysed(step, level).plan(level).together;
      EXPECT_GT(together, 0);
      EXPECT_EQ(together % 16, 0);
      EXPECT_EQ(together % program::analysed(step, level).code.lanes.rows, 0);
    }
  }
}

// Groups of which less than a whole one is left: more than half of it, less, a
// vector, less than that.
TEST(LaneRows, Leftovers) {
  for (int64_t inner : {30, 600})
    for (int64_t rows : {65, 72, 73, 81, 96, 100, 125, 129, 196, 250}) {
      ScalarBuilder b;
      RowStep step = lanes_step(2, inner, rows);
      const Scalar x = b.input(0, DType::f32);
      step.outputs.push_back(row_access({rows, 1}, 0));
      step.body = b.finish({normalised(x, inner), sum(x)});
      expect_lanes(step);
      check_step(step, {.units = 64, .scale = 20});
    }
}

// Rows that are computed twice would read what they wrote.
TEST(LaneRows, WorksInPlace) {
  for (int64_t rows : {5, 8, 60, 100, 129}) {
    ScalarBuilder b;
    RowStep step = lanes_step(2, 40, rows);
    step.body = b.finish({softmax(b.input(0, DType::f32))});
    expect_works_in_place(step);
  }
}

TEST(LaneRows, FewRowsInOneDim) {
  for (int64_t rows : {2, 3, 15, 40}) {
    ScalarBuilder b;
    RowStep step;
    step.outer = {rows};
    step.inner = 21;
    step.inputs = {row_access({1}, rows + 2)};
    step.outputs = {row_access({1}, rows + 5)};
    step.body = b.finish({softmax(b.input(0, DType::f32))});
    expect_lanes(step);
    check_step(step, {.units = 64});
  }
}

// Operands that are constant along the row, for all rows, or both; results that
// are stored once for each row.
TEST(LaneRows, OtherOperands) {
  constexpr int64_t kInner = 37;
  for (int64_t rows : {45, 2, 3, 5, 7, 8, 12, 20}) {
    ScalarBuilder b;
    const Scalar x = b.input(0, DType::f32), row = b.input(1, DType::f32),
                 along = b.input(2, DType::f32), one = b.input(3, DType::f32);
    RowStep step = lanes_step(2, kInner, rows);
    step.inputs.push_back(row_access({rows, 1}, 0));
    step.inputs.push_back(row_access({0, 0}, 1));
    step.inputs.push_back(row_access({1, 0}, 0));
    step.outputs.push_back(row_access({rows, 1}, 0));
    const Scalar y = normalised(x * along + row, kInner);
    step.body = b.finish({y + one, sum(x * row)});
    expect_lanes(step);
    check_step(step, {.units = 256, .scale = 20});
  }
}

TEST(LaneRows, EveryType) {
  for (DType type : {DType::f64, DType::f16, DType::bf16, DType::i8, DType::u8,
                     DType::i32, DType::i64, DType::boolean})
    for (int64_t rows : {37, 3, 6, 20}) {
      constexpr int64_t kInner = 19;
      const DType computed =
          type == DType::f16 || type == DType::bf16 ? DType::f32 : type;
      ScalarBuilder b;
      const Scalar x = b.input(0, computed), along = b.input(1, computed),
                   row = b.input(2, computed);
      RowStep step = lanes_step(2, kInner, rows);
      step.inputs[0].dtype = type;
      step.inputs.push_back(row_access({0, 0}, 1, type));
      step.inputs.push_back(row_access({rows, 1}, 0, type));
      step.outputs[0].dtype = type;
      step.outputs.push_back(row_access({rows, 1}, 0, type));
      const Scalar most = apply(Prim::reduce_max, x);
      const Scalar mixed = apply(Prim::minimum, apply(Prim::maximum, x, along),
                                 apply(Prim::maximum, most, row));
      step.body = b.finish({mixed, most});
      expect_lanes(step);
      check_step(step);
    }
}

TEST(LaneRows, Positions) {
  for (int64_t rows : {70, 3, 8, 20}) {
    ScalarBuilder b;
    const Scalar place = b.index(0) * b.constant(10000, DType::i64) +
                         b.index(1) * b.constant(100, DType::i64) + b.index(2);
    const Scalar x = b.input(0, DType::f32);
    RowStep step = lanes_step(2, 23, rows);
    step.outputs.push_back(lanes_access(23, rows, DType::i64));
    step.body = b.finish({x - sum(x), place});
    expect_lanes(step);
    check_step(step, {.units = 64, .scale = 20});
  }
}

// Views of which the neighbours of a position do not follow those of the one
// before have lanes of their own, too.
TEST(LaneRows, PositionsApart) {
  for (int64_t rows : {4, 7, 20}) {
    ScalarBuilder b;
    RowStep step = lanes_step(2, 23, rows);
    step.inputs[0] = row_access({23 * (rows + 3), 1}, rows + 3);
    step.body = b.finish({softmax(b.input(0, DType::f32))});
    expect_lanes(step);
    check_step(step, {.units = 64});
  }
}

// Rows of an operand that lie elsewhere, few that lie apart, long rows, none to
// reduce.
TEST(LaneRows, OthersGoRowByRow) {
  ScalarBuilder b;
  const Scalar x = b.input(0, DType::f32);
  const ScalarBody body = b.finish({softmax(x)});
  RowStep rows = lanes_step(2, 23, 70);
  rows.body = body;
  rows.outputs[0] = row_access({23 * 70, 23}, 1);
  expect_lanes(rows, false);
  check_step(rows, {.units = 64});
  RowStep few = lanes_step(2, 23, 3);
  few.body = body;
  few.inputs[0] = row_access({23 * 4, 1}, 4);
  expect_lanes(few, false);
  check_step(few, {.units = 64});
  RowStep longer = lanes_step(1, 100000, 16);
  longer.body = body;
  expect_lanes(longer, false);
  RowStep strict = lanes_step(2, 23, 70);
  strict.body = body;
  strict.strict = true;
  expect_lanes(strict, false);
  check_step(strict, {.units = 64});
  ScalarBuilder plain;
  RowStep copy = lanes_step(2, 23, 70);
  copy.body = plain.finish({plain.input(0, DType::f32)});
  expect_lanes(copy, false);
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit::testing
