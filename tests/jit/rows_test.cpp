// Row steps without reductions, and how rows are found in memory, at every CPU
// level against the oracle of step_oracle.h.
#include "jit/emit/skeletons.h"

#include <gtest/gtest.h>

#include "tests/jit/step_bodies.h"
#include "tests/jit/step_test_util.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::RowStep;
using testing::apply;
using testing::check_step;
using testing::kInf;
using testing::Number;
using testing::row_access;
using testing::row_sizes;
using testing::sample;
using testing::softmax;

TEST(Rows, FlatElementwiseWithSeveralOutputs) {
  std::vector<int64_t> lengths = row_sizes();
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

// Neighbouring rows that differ in several dims, in an order that suits none of
// the operands at first, or of which the rows are too short.
TEST(Rows, CrosswiseOperandsOverSeveralDims) {
  constexpr int64_t kParts = 4, kPlaces = 35;
  for (int64_t channels : {10, 40}) {
    const int64_t all = kParts * kPlaces;
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32), y = b.input(1, DType::f32);
    RowStep step;
    step.outer = {kParts, kPlaces};
    step.inner = channels * 5;
    step.inputs = {row_access({1, kParts}, all),
                   row_access({kPlaces * step.inner, step.inner}, 1)};
    step.outputs = {step.inputs[1]};
    step.body = b.finish({x + y * softmax(x)});
    check_step(step);
    ScalarBuilder c;
    RowStep back;
    back.outer = {channels, 3, kPlaces};
    back.inner = kParts;
    back.inputs = {
        row_access({1, all * channels, channels}, kPlaces * channels)};
    back.outputs = {row_access({3 * all, all, kParts}, 1)};
    back.body = c.finish({c.input(0, DType::f32) * 2.0});
    check_step(back);
    back.analyse(program::Machine{.level = CpuLevel::avx2, .threads = 1});
    EXPECT_FALSE(back.code.crosswise.empty()) << channels;
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

// Planes that become the few channels of each place, and back.
TEST(Rows, FewElementsThatLieCrosswise) {
  for (const DType type : {DType::u8, DType::f32}) {
    constexpr int64_t kPlaces = 203, kChannels = 3;
    ScalarBuilder b;
    RowStep step;
    step.outer = {2, kPlaces};
    step.inner = kChannels;
    step.inputs = {row_access({kPlaces * kChannels, 1}, kPlaces, type)};
    step.outputs = {row_access({kPlaces * kChannels, kChannels}, 1, type)};
    step.body = b.finish({b.input(0, type)});
    check_step(step);
    RowStep back = step;
    std::swap(back.inputs, back.outputs);
    check_step(back);
    step.analyse(program::Machine{.level = CpuLevel::avx2, .threads = 1});
    EXPECT_EQ(step.inner, kPlaces);
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

// out[r, i] = table[index[r, i], i or 0] + table2[...]: an index per element.
TEST(Rows, GatherOfElements) {
  for (int64_t inner : {5, 16, 37, 100}) {
    for (bool bad : {false, true}) {
      ScalarBuilder b;
      RowStep step;
      step.outer = {4};
      step.inner = inner;
      program::Access table = row_access({0}, 1);
      table.gather_slot = 1;
      table.gather_stride = inner;
      table.gather_limit = 9;
      program::Access list = row_access({11}, 0, DType::i16);
      list.gather_slot = 1;
      list.gather_stride = 1;
      list.gather_limit = 9;
      step.inputs = {table, row_access({inner}, 1, DType::i64), list};
      step.outputs = {row_access({inner}, 1)};
      step.body = b.finish({b.input(0, DType::f32) +
                            b.cast(b.input(2, DType::i16), DType::f32)});
      check_step(step,
                 {.fill =
                      [&](size_t slot, int64_t i) {
                        if (slot == 0) return sample(DType::f32, slot, i);
                        if (slot == 2) return sample(DType::i16, slot, i);
                        const bool outside = bad && i == inner - 1;
                        return Number{0, outside ? -1 : i * 7 % 9};
                      },
                  .status = bad ? program::kIndexOutOfRange : program::kOk});
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

}  // namespace TEST_FILE
}  // namespace fxjit::jit
