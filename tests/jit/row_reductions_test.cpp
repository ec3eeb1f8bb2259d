// Row steps with reductions at every CPU level against the oracle of
// step_oracle.h.
#include "jit/emit/skeletons.h"

#include <gtest/gtest.h>

#include "tests/jit/jit_test_util.h"
#include "tests/jit/lane_steps.h"
#include "tests/jit/step_bodies.h"
#include "tests/jit/step_test_util.h"
#include "tests/support/analysed.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::RowStep;
using testing::apply;
using testing::check_step;
using testing::kInf;
using testing::kNan;
using testing::normalised;
using testing::Number;
using testing::row_access;
using testing::row_sizes;
using testing::sample;
using testing::simple_rows;
using testing::softmax;
using testing::sum;

TEST(RowReductions, SoftmaxOfEverySize) {
  for (int64_t n : row_sizes()) {
    ScalarBuilder b;
    check_step(simple_rows(3, n, b.finish({softmax(b.input(0, DType::f32))})));
  }
}

TEST(RowReductions, SoftmaxInDouble) {
  for (int64_t n : {1, 9, 20, 65, 97, 300}) {
    ScalarBuilder b;
    RowStep step =
        simple_rows(3, n, b.finish({softmax(b.input(0, DType::f64))}));
    step.inputs[0].dtype = step.outputs[0].dtype = DType::f64;
    check_step(step);
  }
}

// Exponentials wait in the result where rows fill vectors, and the result may
// lie where the input does.
TEST(RowReductions, SoftmaxKeepsExponentialsInItsResult) {
  const auto result_of = [](const RowStep& step, CpuLevel level) {
    return program::analysed(step, level)
        .code.schedule.buffers.at(0)
        .result;
  };
  for (int64_t rows : {1, 3, 8, 21}) {
    ScalarBuilder b;
    RowStep step =
        simple_rows(rows, 128, b.finish({softmax(b.input(0, DType::f32))}));
    check_step(step);
    testing::expect_works_in_place(step);
    EXPECT_EQ(result_of(step, CpuLevel::avx2), 0);
    EXPECT_EQ(result_of(step, CpuLevel::sse41), 0);
    EXPECT_EQ(result_of(step, CpuLevel::avx512), -1);
    step.inner = 124;
    EXPECT_EQ(result_of(step, CpuLevel::avx2), -1);
    step.inner = 128;
    step.outputs[0].dtype = DType::f16;
    EXPECT_EQ(result_of(step, CpuLevel::avx2), -1);
  }
}

TEST(RowReductions, LayerNormOfEverySize) {
  for (int64_t n : row_sizes()) {
    ScalarBuilder b;
    RowStep step = simple_rows(3, n,
                               b.finish({normalised(b.input(0, DType::f32), n) *
                                             b.input(1, DType::f32) +
                                         b.input(2, DType::f32)}));
    step.inputs.push_back(row_access({0}, 1));
    step.inputs.push_back(row_access({0}, 1));
    // One element has no variance: all depends on the rounding of its mean.
    check_step(step, {.units = n < 4 ? 400.0 : 64.0});
  }
}

TEST(RowReductions, SoftmaxOfNormalisedChain) {
  for (int64_t n : {2, 16, 33, 64, 100, 1024}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32);
    Scalar y = x + apply(Prim::gelu, normalised(x, n));
    check_step(simple_rows(4, n, b.finish({softmax(normalised(y, n))})),
               {.units = n < 4 ? 4000.0 : 64.0});
  }
}

TEST(RowReductions, StatisticsBesideTheResult) {
  for (int64_t n : {3, 16, 40, 1000}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32);
    Scalar mean = sum(x) / double(n);
    Scalar centred = x - mean;
    Scalar variance = sum(centred * centred) / double(n);
    RowStep step = simple_rows(
        5, n, b.finish({centred, mean, variance, apply(Prim::sqrt, variance)}));
    step.outputs.push_back(row_access({1}, 0));
    step.outputs.push_back(row_access({2}, 0, DType::f16));
    // The deviation expanded along the row.
    step.outputs.push_back(row_access({n}, 1));
    check_step(step, {.scale = 4});
  }
}

// Rows that go through each pass together, with some left at the end.
TEST(RowReductions, StatisticsOfManyRows) {
  for (int64_t rows : {7, 8, 19})
    for (int64_t n : {40, 128, 300}) {
      ScalarBuilder b;
      Scalar x = b.input(0, DType::f32);
      Scalar mean = sum(x) / double(n);
      Scalar centred = x - mean + b.input(1, DType::f32);
      RowStep step = simple_rows(
          rows, n, b.finish({softmax(centred) * b.input(2, DType::f32), mean}));
      step.inputs.push_back(row_access({1}, 0));
      step.inputs.push_back(row_access({0}, 1));
      step.outputs.push_back(row_access({1}, 0));
      check_step(step, {.scale = 4});
    }
}

TEST(RowReductions, QuotientsByRowConstants) {
  for (double magnitude : {1.0, 1e-38, 1e-41, 1e30}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32);
    Scalar root = apply(Prim::sqrt, sum(x * x));
    Scalar total = sum(apply(Prim::abs, x));
    RowStep step = simple_rows(2, 20, b.finish({x / total, x / root}));
    step.outputs.push_back(row_access({20}, 1));
    if (magnitude != 1.0) {  // The squares leave the range of floats.
      step.body.results.pop_back();
      step.outputs.pop_back();
    }
    check_step(step, {.units = magnitude < 1e-40 ? 1e4 : 16.0,
                      .fill = [&](size_t slot, int64_t i) {
                        return Number{
                            magnitude * (sample(DType::f32, slot, i).real), 0};
                      }});
  }
}

TEST(RowReductions, CrosswiseSoftmax) {
  for (int64_t n : {20, 100, 300}) {
    constexpr int64_t kRows = 40;
    ScalarBuilder b;
    RowStep step =
        simple_rows(kRows, n,
                    b.finish({softmax(normalised(
                        apply(Prim::gelu, b.input(0, DType::f32)), n))}));
    step.inputs[0] = row_access({1}, kRows);
    step.outputs[0] = row_access({1}, kRows);
    check_step(step, {.units = 64});
  }
}

TEST(RowReductions, ReductionsOfStridedRows) {
  for (int64_t n : {3, 16, 50, 130}) {
    ScalarBuilder b;
    RowStep step;
    step.outer = {4};
    step.inner = n;
    step.inputs = {row_access({1}, 4)};
    step.outputs = {row_access({1}, 4)};
    step.body = b.finish({softmax(b.input(0, DType::f32))});
    check_step(step);
  }
}

TEST(RowReductions, ReductionOfARowConstant) {
  ScalarBuilder b;
  RowStep step = simple_rows(3, 21, {});
  step.inputs.push_back(row_access({1}, 0));
  Scalar x = b.input(0, DType::f32), c = b.input(1, DType::f32);
  step.body = b.finish({x * sum(c), sum(b.constant(2, DType::f32))});
  step.outputs.push_back(row_access({21}, 1));
  check_step(step, {.scale = 100});
}

TEST(RowReductions, RangeOfValues) {
  for (int64_t n : {5, 64, 200}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32);
    Scalar e = apply(Prim::exp, x - apply(Prim::reduce_max, x));
    RowStep step = simple_rows(6, n,
                               b.finish({e / sum(e), apply(Prim::reduce_max, x),
                                         apply(Prim::reduce_min, x)}));
    step.outputs.push_back(row_access({1}, 0));
    step.outputs.push_back(row_access({1}, 0));
    check_step(step, {.fill = [n](size_t slot, int64_t i) {
                 const int64_t row = i / n, at = i % n;
                 if (row == 1 && at == n / 2) return Number{kNan, 0};
                 if (row == 2 && at == n - 1) return Number{kInf, 0};
                 if (row == 3 && at == 0) return Number{-kInf, 0};
                 if (row == 4) return Number{-kInf, 0};
                 if (row == 5 && at != 1) return Number{-200, 0};
                 return sample(DType::f32, slot, i);
               }});
  }
}

TEST(RowReductions, NanReachesSoftmaxOfAShiftedRow) {
  constexpr int64_t n = 40;
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  RowStep step = simple_rows(3, n, b.finish({softmax(normalised(x, n))}));
  check_step(step, {.units = 64, .fill = [](size_t slot, int64_t i) {
                      if (i == n + 3) return Number{kNan, 0};
                      if (i == 2 * n + 7) return Number{kInf, 0};
                      return sample(DType::f32, slot, i);
                    }});
}

TEST(RowReductions, ReductionsByDType) {
  for (DType type : {DType::f32, DType::f64, DType::i8, DType::u8, DType::i16,
                     DType::i32, DType::i64}) {
    for (int64_t n : {1, 7, 16, 45, 100}) {
      ScalarBuilder b;
      Scalar x = b.input(0, type);
      RowStep step;
      step.outer = {3};
      step.inner = n;
      step.inputs = {row_access({n}, 1, type)};
      step.outputs.assign(4, row_access({1}, 0, type));
      step.body =
          b.finish({sum(x), apply(Prim::reduce_max, x),
                    apply(Prim::reduce_min, x), apply(Prim::reduce_prod, x)});
      check_step(step, {.units = 200, .scale = 10});
    }
  }
}

TEST(RowReductions, AnyAndAll) {
  for (int64_t n : {1, 16, 31, 100}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::i32);
    Scalar positive = apply(Prim::gt, x, b.constant(-19, DType::i32));
    Scalar great = apply(Prim::gt, x, b.constant(18, DType::i32));
    RowStep step;
    step.outer = {20};
    step.inner = n;
    step.inputs = {row_access({n}, 1, DType::i32)};
    step.outputs = {row_access({1}, 0, DType::boolean),
                    row_access({1}, 0, DType::boolean)};
    step.body = b.finish(
        {apply(Prim::reduce_all, positive), apply(Prim::reduce_any, great)});
    check_step(step);
  }
}

TEST(RowReductions, EmptyRowsAndNoRows) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  RowStep step = simple_rows(3, 0, b.finish({sum(x) + 2.0}));
  step.outputs = {row_access({1}, 0)};
  check_step(step);
  step.outer = {0};
  step.inner = 5;
  check_step(step);
  RowStep flat;
  flat.inner = 0;
  flat.inputs = {row_access({}, 1)};
  flat.outputs = {row_access({}, 1)};
  flat.body = ScalarBody{{{.prim = Prim::input}}, {0}};
  check_step(flat);
}

TEST(RowReductions, WorksInPlace) {
  const int64_t n = 300;
  ScalarBuilder b;
  const RowStep step =
      simple_rows(2, n, b.finish({softmax(b.input(0, DType::f32))}));
  for (CpuLevel level : testing::host_levels()) {
    const testing::StepKernel kernel(step, level);
    std::vector<float> apart(2 * n), in(2 * n);
    for (size_t i = 0; i < in.size(); ++i) {
      in[i] = static_cast<float>(sample(DType::f32, 0, int64_t(i)).real);
    }
    kernel.run({in.data(), apart.data()}, 0, 2);
    kernel.run({in.data(), in.data()}, 0, 2);
    EXPECT_EQ(in, apart) << cpu_level_name(level);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
