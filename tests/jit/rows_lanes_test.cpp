// Rows with reductions of which neighbours lie side by side: one row to a lane.
#include <gtest/gtest.h>

#include "src/program/rows/code.h"
#include "tests/jit/step_bodies.h"
#include "tests/jit/step_test_util.h"

namespace fxjit::jit::testing {
namespace {

using program::Access;
using program::RowStep;

// [batch, inner, rows] in memory.
Access lanes_access(int64_t inner, int64_t rows, DType dtype = DType::f32) {
  return row_access({inner * rows, 1}, rows, dtype);
}

RowStep lanes_step(int64_t batch, int64_t inner, int64_t rows) {
  RowStep step;
  step.outer = {batch, rows};
  step.inner = inner;
  step.inputs = {lanes_access(inner, rows)};
  step.outputs = {lanes_access(inner, rows)};
  return step;
}

void expect_lanes(const RowStep& step, bool lanes = true) {
  for (CpuLevel level : {CpuLevel::sse41, CpuLevel::avx2, CpuLevel::avx512})
    EXPECT_EQ(program::row_code(step, level).lanes > 0, lanes);
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

TEST(LaneRows, FewRowsInOneDim) {
  for (int64_t rows : {1, 3, 15, 40}) {
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
  constexpr int64_t kInner = 37, kRows = 45;
  ScalarBuilder b;
  const Scalar x = b.input(0, DType::f32), row = b.input(1, DType::f32),
               along = b.input(2, DType::f32), one = b.input(3, DType::f32);
  RowStep step = lanes_step(2, kInner, kRows);
  step.inputs.push_back(row_access({kRows, 1}, 0));
  step.inputs.push_back(row_access({0, 0}, 1));
  step.inputs.push_back(row_access({1, 0}, 0));
  step.outputs.push_back(row_access({kRows, 1}, 0));
  const Scalar y = normalised(x * along + row, kInner);
  step.body = b.finish({y + one, sum(x * row)});
  expect_lanes(step);
  check_step(step, {.units = 256, .scale = 20});
}

TEST(LaneRows, EveryType) {
  for (DType type : {DType::f64, DType::f16, DType::bf16, DType::i8, DType::u8,
                     DType::i32, DType::i64, DType::boolean}) {
    constexpr int64_t kInner = 19, kRows = 37;
    const DType computed =
        type == DType::f16 || type == DType::bf16 ? DType::f32 : type;
    ScalarBuilder b;
    const Scalar x = b.input(0, computed);
    RowStep step = lanes_step(2, kInner, kRows);
    step.inputs[0].dtype = type;
    step.outputs[0].dtype = type;
    step.outputs.push_back(row_access({kRows, 1}, 0, type));
    const Scalar most = apply(Prim::reduce_max, x);
    step.body = b.finish({apply(Prim::maximum, x, most), most});
    expect_lanes(step);
    check_step(step);
  }
}

TEST(LaneRows, Positions) {
  ScalarBuilder b;
  const Scalar place = b.index(0) * b.constant(10000, DType::i64) +
                       b.index(1) * b.constant(100, DType::i64) + b.index(2);
  const Scalar x = b.input(0, DType::f32);
  RowStep step = lanes_step(2, 23, 70);
  step.outputs.push_back(lanes_access(23, 70, DType::i64));
  step.body = b.finish({x - sum(x), place});
  expect_lanes(step);
  check_step(step, {.units = 64, .scale = 20});
}

// Rows of an operand that lie elsewhere, long rows, none to reduce.
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
  expect_lanes(few, false);
  check_step(few, {.units = 64});
  RowStep longer = lanes_step(1, 513, 16);
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

}  // namespace
}  // namespace fxjit::jit::testing
