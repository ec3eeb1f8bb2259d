// Column steps at every CPU level against the oracle of step_oracle.h.
#include "jit/emit/skeletons.h"

#include <gtest/gtest.h>

#include "tests/jit/jit_test_util.h"
#include "tests/jit/step_bodies.h"
#include "tests/jit/step_test_util.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::ColumnStep;
using testing::apply;
using testing::check_step;
using testing::column_access;
using testing::kInf;
using testing::kNan;
using testing::Number;
using testing::sample;
using testing::sum;

// Reductions over the rows of one contiguous matrix, one output per result.
ColumnStep matrix_columns(int64_t rows, int64_t columns, ScalarBody body,
                          DType dtype = DType::f32) {
  ColumnStep step;
  step.reduce = {rows};
  step.inner = columns;
  step.inputs = {column_access({}, {columns}, 1, dtype)};
  for (int32_t id : body.results) {
    step.outputs.push_back(
        column_access({}, {0}, 1, body.instrs[size_t(id)].type));
  }
  step.body = std::move(body);
  return step;
}

TEST(Columns, SumsOfEveryWidth) {
  for (int64_t columns = 1; columns <= 70; ++columns) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32);
    check_step(matrix_columns(9, columns, b.finish({sum(x), sum(x * x)})),
               {.scale = 30});
  }
}

TEST(Columns, SumsOfEveryHeight) {
  for (int64_t rows : {0, 1, 2, 3, 4, 5, 7, 8, 100, 1000}) {
    for (int64_t columns : {1, 16, 200}) {
      ScalarBuilder b;
      Scalar x = b.input(0, DType::f32);
      check_step(matrix_columns(rows, columns, b.finish({sum(x)})),
                 {.scale = 1000});
    }
  }
}

TEST(Columns, AllReductionsByDType) {
  for (DType type : {DType::f32, DType::f64, DType::i8, DType::u8, DType::i16,
                     DType::i32, DType::i64}) {
    for (int64_t columns : {5, 64}) {
      ScalarBuilder b;
      Scalar x = b.input(0, type);
      check_step(matrix_columns(13, columns,
                                b.finish({sum(x), apply(Prim::reduce_max, x),
                                          apply(Prim::reduce_min, x),
                                          apply(Prim::reduce_prod, x)}),
                                type),
                 {.units = 50, .scale = 30});
    }
  }
}

TEST(Columns, HalfTypesAndBooleans) {
  for (DType type : {DType::f16, DType::bf16}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32);
    ColumnStep step =
        matrix_columns(6, 37, b.finish({sum(x), apply(Prim::abs, sum(x))}));
    step.inputs[0].dtype = type;
    step.outputs[1].dtype = type;
    check_step(step, {.scale = 10});
  }
  ScalarBuilder b;
  Scalar x = b.input(0, DType::boolean);
  check_step(matrix_columns(
      3, 45,
      b.finish({apply(Prim::reduce_any, x), apply(Prim::reduce_all, x),
                sum(b.cast(x, DType::i64))}),
      DType::boolean));
}

TEST(Columns, NanAndInfinity) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  const ColumnStep step =
      matrix_columns(8, 40,
                     b.finish({apply(Prim::reduce_max, x),
                               apply(Prim::reduce_min, x), sum(x)}));
  check_step(step, {.scale = 20, .fill = [](size_t slot, int64_t i) {
                      if (i % 40 == 3 && i / 40 == 5) return Number{kNan, 0};
                      if (i % 40 == 4 && i / 40 == 0) return Number{kNan, 0};
                      if (i % 40 == 17 && i / 40 == 7) return Number{-kInf, 0};
                      return sample(DType::f32, slot, i);
                    }});
}

TEST(Columns, SeveralOuterAndReducedDims) {
  for (int64_t columns : {3, 16, 50, 64, 130}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32), y = b.input(1, DType::f32);
    ColumnStep step;
    step.outer = {2, 3};
    step.reduce = {4, 5};
    step.inner = columns;
    // [outer 2, reduce 4, outer 3, reduce 5, columns], and a broadcast one.
    step.inputs = {
        column_access({60 * columns, 5 * columns}, {15 * columns, columns}, 1),
        column_access({0, 1}, {3, 0}, 0)};
    step.outputs = {column_access({3 * columns, columns}, {0, 0}, 1),
                    column_access({1, 2}, {0, 0}, 6)};
    step.body = b.finish({sum(x * y), sum(x)});
    check_step(step, {.scale = 60});
  }
}

TEST(Columns, WhatFollowsTheReduction) {
  for (int64_t columns : {1, 20, 64, 100}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32), scale = b.input(1, DType::f32);
    Scalar mean = sum(x) / 12.0;
    Scalar variance = sum(x * x) / 12.0 - mean * mean;
    ColumnStep step = matrix_columns(
        12, columns,
        b.finish({mean * scale, apply(Prim::sqrt, variance + 1e-5)}));
    step.inputs.push_back(column_access({}, {0}, 1));
    check_step(step, {.units = 64, .scale = 10});
  }
}

TEST(Columns, HeavyBodies) {
  for (int64_t columns : {7, 64}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32);
    check_step(
        matrix_columns(
            11, columns,
            b.finish({sum(apply(Prim::exp, x)),
                      sum(apply(Prim::gelu, x) * apply(Prim::tanh, x))})),
        {.scale = 100});
  }
}

TEST(Columns, StridedColumns) {
  for (int64_t columns : {1, 5, 33}) {
    ScalarBuilder b;
    ColumnStep step;
    step.reduce = {6};
    step.inner = columns;
    step.inputs = {column_access({}, {1}, 6)};
    step.outputs = {column_access({}, {0}, 2)};
    step.body = b.finish({apply(Prim::reduce_max, b.input(0, DType::f32))});
    check_step(step);
  }
}

TEST(Columns, OneColumnWithAnyStride) {
  ScalarBuilder b;
  ColumnStep step;
  step.outer = {3};
  step.reduce = {10};
  step.inner = 1;
  step.inputs = {column_access({10}, {1}, 0)};
  step.outputs = {column_access({1}, {0}, 0)};
  step.body = b.finish({sum(b.input(0, DType::f32))});
  check_step(step, {.scale = 10});
}

TEST(Columns, Positions) {
  // The place of the last positive element, over [outer 2, reduce 7].
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  Scalar positive = b.apply(Prim::gt, x, b.constant(0, DType::f32));
  Scalar place = b.select(positive, b.index(1), b.constant(-1, DType::i64));
  ColumnStep step;
  step.outer = {2};
  step.reduce = {7};
  step.inner = 21;
  step.inputs = {column_access({147}, {21}, 1)};
  step.outputs = {column_access({21}, {0}, 1, DType::i64)};
  step.body = b.finish({apply(Prim::reduce_max, place) +
                        b.index(0) * b.constant(1000, DType::i64) +
                        b.index(2) * b.constant(100000, DType::i64)});
  check_step(step);
}

TEST(Columns, BagOfGatheredRows) {
  for (int64_t bad : {0, 1}) {
    ScalarBuilder b;
    ColumnStep step;
    step.outer = {3};
    step.reduce = {4};
    step.inner = 20;
    program::Access table = column_access({0}, {0}, 1);
    table.gather_slot = 1;
    table.gather_stride = 20;
    table.gather_limit = 6;
    step.inputs = {table, column_access({4}, {1}, 0, DType::i64)};
    step.outputs = {column_access({20}, {0}, 1)};
    step.body = b.finish({sum(b.input(0, DType::f32))});
    check_step(step,
               {.scale = 10,
                .fill =
                    [bad](size_t slot, int64_t i) {
                      if (slot == 0) return sample(DType::f32, slot, i);
                      return Number{0, bad && i == 7 ? 6 : i * 5 % 6};
                    },
                .status = bad ? program::kIndexOutOfRange : program::kOk});
  }
}

TEST(Columns, WorksInPlace) {
  ScalarBuilder b;
  const Scalar total = sum(b.input(0, DType::f32));
  ColumnStep step =
      matrix_columns(9, 70, b.finish({total + b.input(1, DType::f32)}));
  step.inputs.push_back(column_access({}, {0}, 1));
  std::vector<float> x(9 * 70), residual(70);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(sample(DType::f32, 0, int64_t(i)).real);
  for (size_t i = 0; i < residual.size(); ++i)
    residual[i] = static_cast<float>(sample(DType::f32, 1, int64_t(i)).real);
  for (CpuLevel level : testing::host_levels()) {
    const testing::StepKernel kernel(step, level);
    std::vector<float> apart(70), in = residual;
    kernel.run({x.data(), in.data(), apart.data()}, 0, kernel.tasks());
    EXPECT_EQ(in, residual);
    kernel.run({x.data(), in.data(), in.data()}, 0, kernel.tasks());
    EXPECT_EQ(in, apart) << cpu_level_name(level);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
