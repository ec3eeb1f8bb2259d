// Row steps at every CPU level against the oracle of step_oracle.h.
#include "jit/emit/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/jit/jit_test_util.h"
#include "tests/jit/step_test_util.h"

namespace fxjit::jit {
namespace {

using program::RowStep;
using testing::check_step;
using testing::CheckOptions;
using testing::Number;
using testing::row_access;
using testing::sample;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Scalar apply(Prim prim, Scalar x) { return x.builder->apply(prim, x); }
Scalar apply(Prim prim, Scalar x, Scalar y) {
  return x.builder->apply(prim, x, y);
}
Scalar sum(Scalar x) { return apply(Prim::reduce_sum, x); }

Scalar softmax(Scalar x) {
  Scalar e = apply(Prim::exp, x - apply(Prim::reduce_max, x));
  return e / sum(e);
}

Scalar normalised(Scalar x, int64_t n) {
  Scalar centred = x - sum(x) / double(n);
  Scalar variance = sum(centred * centred) / double(n);
  return centred * apply(Prim::rsqrt, variance + 1e-5);
}

// `rows` contiguous rows of one f32 input and one f32 output.
RowStep simple_rows(int64_t rows, int64_t inner, ScalarBody body) {
  RowStep step;
  step.outer = {rows};
  step.inner = inner;
  step.inputs = {row_access({inner}, 1)};
  step.outputs = {row_access({inner}, 1)};
  step.body = std::move(body);
  return step;
}

// All sizes around vectors, unrolled loops and chunks.
std::vector<int64_t> sizes() {
  std::vector<int64_t> all;
  for (int64_t n = 1; n <= 70; ++n) all.push_back(n);
  for (int64_t n : {127, 128, 129, 200, 1000, 1024}) all.push_back(n);
  return all;
}

TEST(Rows, FlatElementwiseWithSeveralOutputs) {
  std::vector<int64_t> lengths = sizes();
  for (int64_t n : {2047, 2048, 2049, 4096, 6145}) lengths.push_back(n);
  for (int64_t n : lengths) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32), y = b.input(1, DType::f32);
    RowStep step;
    step.inner = n;
    step.inputs = {row_access({}, 1), row_access({}, 1)};
    step.outputs = {row_access({}, 1), row_access({}, 1, DType::boolean),
                    row_access({}, 1, DType::f64)};
    step.body = b.finish(
        {x * y + 0.5, apply(Prim::lt, x, y), b.cast(x - y, DType::f64)});
    check_step(step);
  }
}

TEST(Rows, FlatHeavyBody) {
  for (int64_t n : {1, 17, 2048, 2100}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32), y = b.input(1, DType::f32);
    RowStep step;
    step.inner = n;
    step.inputs = {row_access({}, 1), row_access({}, 1)};
    step.outputs = {row_access({}, 1)};
    step.body =
        b.finish({apply(Prim::sigmoid, x * y + 0.5) * apply(Prim::tanh, x - y) +
                  apply(Prim::gelu, y)});
    check_step(step);
  }
}

TEST(Rows, FlatConstantAndExpandedScalar) {
  for (int64_t n : {1, 5, 2048, 3000}) {
    ScalarBuilder b;
    RowStep step;
    step.inner = n;
    step.inputs = {row_access({}, 0)};
    step.outputs = {row_access({}, 1), row_access({}, 1, DType::i64),
                    row_access({}, 0)};
    Scalar x = b.input(0, DType::f32);
    step.body = b.finish({x * 2.0, b.constant_int(-7, DType::i64), x + 1.0});
    check_step(step);
  }
}

TEST(Rows, SoftmaxOfEverySize) {
  for (int64_t n : sizes()) {
    ScalarBuilder b;
    check_step(simple_rows(3, n, b.finish({softmax(b.input(0, DType::f32))})));
  }
}

TEST(Rows, SoftmaxInDouble) {
  for (int64_t n : {1, 9, 20, 65, 97, 300}) {
    ScalarBuilder b;
    RowStep step =
        simple_rows(3, n, b.finish({softmax(b.input(0, DType::f64))}));
    step.inputs[0].dtype = step.outputs[0].dtype = DType::f64;
    check_step(step);
  }
}

TEST(Rows, LayerNormOfEverySize) {
  for (int64_t n : sizes()) {
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

TEST(Rows, SoftmaxOfNormalisedChain) {
  for (int64_t n : {2, 16, 33, 64, 100, 1024}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32);
    Scalar y = x + apply(Prim::gelu, normalised(x, n));
    check_step(simple_rows(4, n, b.finish({softmax(normalised(y, n))})),
               {.units = n < 4 ? 4000.0 : 64.0});
  }
}

TEST(Rows, StatisticsBesideTheResult) {
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

TEST(Rows, QuotientsByRowConstants) {
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

TEST(Rows, StridesAndSeveralOuterDims) {
  for (int64_t n : {1, 4, 15, 16, 37, 70}) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32), y = b.input(1, DType::f32);
    Scalar z = b.input(2, DType::f32), w = b.input(3, DType::f32);
    RowStep step;
    step.outer = {2, 3, 5};
    step.inner = n;
    step.inputs = {row_access({15 * n, 5 * n, n}, 1),
                   row_access({1, 2, 6}, 30),  // Transposed.
                   row_access({0, 1, 0}, 0),   // Broadcast along the row.
                   row_access({0, 0, n}, 1)};
    step.outputs = {row_access({1, 2, 6}, 30),
                    row_access({20 * n, 6 * n, n}, 1),
                    row_access({15 * 3 * n, 15 * n, 3 * n}, 3)};
    step.body = b.finish({x + y, (y - z) * w, x * z});
    check_step(step);
  }
}

// Rows that lie crosswise in memory: a transpose on the way in and out.
TEST(Rows, CrosswiseOperands) {
  for (int64_t n : {1, 7, 8, 15, 16, 17, 40, 70}) {
    constexpr int64_t kBatch = 3, kRows = 37;
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32), y = b.input(1, DType::f32);
    RowStep step;
    step.outer = {kBatch, kRows};
    step.inner = n;
    step.inputs = {row_access({n * kRows, 1}, kRows),
                   row_access({n * kRows, n}, 1)};
    step.outputs = {row_access({n * kRows, n}, 1),
                    row_access({n * (kRows + 2), 1}, kRows + 2)};
    step.body = b.finish({x + y, x * y});
    check_step(step);
  }
}

TEST(Rows, CrosswiseOperandsOfEveryType) {
  for (DType type :
       {DType::f64, DType::f16, DType::i8, DType::boolean, DType::i64}) {
    constexpr int64_t kRows = 50, kInner = 21;
    ScalarBuilder b;
    Scalar x = b.input(0, type == DType::f16 ? DType::f32 : type);
    RowStep step;
    step.outer = {kRows};
    step.inner = kInner;
    step.inputs = {row_access({1}, kRows, type)};
    step.outputs = {row_access({kInner}, 1, type),
                    row_access({1}, kRows, type)};
    step.body = b.finish({x, x});
    check_step(step);
  }
}

TEST(Rows, CrosswiseSoftmax) {
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

TEST(Rows, ReductionsOfStridedRows) {
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

TEST(Rows, ReductionOfARowConstant) {
  ScalarBuilder b;
  RowStep step = simple_rows(3, 21, {});
  step.inputs.push_back(row_access({1}, 0));
  Scalar x = b.input(0, DType::f32), c = b.input(1, DType::f32);
  step.body = b.finish({x * sum(c), sum(b.constant(2, DType::f32))});
  step.outputs.push_back(row_access({21}, 1));
  check_step(step, {.scale = 100});
}

TEST(Rows, RangeOfValues) {
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

TEST(Rows, NanReachesSoftmaxOfAShiftedRow) {
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

TEST(Rows, ReductionsByDType) {
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

TEST(Rows, AnyAndAll) {
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

TEST(Rows, EmptyRowsAndNoRows) {
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

TEST(Rows, WorksInPlace) {
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

TEST(Rows, Positions) {
  ScalarBuilder b;
  // A causal mask over [2, 3, 20].
  Scalar row = b.index(1), column = b.index(2);
  Scalar x = b.input(0, DType::f32);
  Scalar masked = b.select(apply(Prim::le, column, row + 4.0), x,
                           b.constant(-kInf, DType::f32));
  RowStep step;
  step.outer = {2, 3};
  step.inner = 20;
  step.inputs = {row_access({60, 20}, 1)};
  step.outputs = {row_access({60, 20}, 1), row_access({60, 20}, 1, DType::i64)};
  step.body = b.finish(
      {softmax(masked), b.index(0) * b.constant(100, DType::i64) + column});
  check_step(step);

  ScalarBuilder flat_body;
  RowStep flat;
  flat.inner = 5000;
  flat.outputs = {row_access({}, 1, DType::i32)};
  flat.body =
      flat_body.finish({flat_body.cast(flat_body.index(0), DType::i32)});
  check_step(flat);
}

RowStep embedding(int64_t rows, int64_t width, DType index_dtype) {
  ScalarBuilder b;
  RowStep step;
  step.outer = {rows};
  step.inner = width;
  program::Access table = row_access({0}, 1);
  table.gather_slot = 1;
  table.gather_stride = width + 3;
  table.gather_limit = 9;
  step.inputs = {table, row_access({1}, 0, index_dtype), row_access({0}, 1)};
  step.outputs = {row_access({width}, 1)};
  step.body = b.finish({b.input(0, DType::f32) + b.input(2, DType::f32)});
  return step;
}

TEST(Rows, GatherByIndex) {
  for (DType dtype : {DType::i32, DType::i64}) {
    for (int64_t width : {1, 16, 50}) {
      const auto indices = [](size_t slot, int64_t i) {
        return slot == 1 ? Number{0, (i * 5) % 9} : sample(DType::f32, slot, i);
      };
      check_step(embedding(12, width, dtype), {.fill = indices});
    }
  }
}

TEST(Rows, GatherOutOfRangeSetsTheStatus) {
  for (int64_t bad : {int64_t{9}, int64_t{-1}, int64_t{1} << 40}) {
    const auto indices = [bad](size_t slot, int64_t i) {
      if (slot != 1) return sample(DType::f32, slot, i);
      return Number{0, i == 4 ? bad : i % 9};
    };
    check_step(embedding(7, 20, DType::i64),
               {.fill = indices, .status = program::kIndexOutOfRange});
  }
}

}  // namespace
}  // namespace fxjit::jit
