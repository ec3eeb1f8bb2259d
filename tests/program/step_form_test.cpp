// Forms: what of a step is in its code, and what is an argument of it.
#include <gtest/gtest.h>

#include <bit>

#include "src/program/steps/steps.h"
#include "tests/support/analysed.h"

namespace fxjit::program {
namespace TEST_FILE {

ScalarBody sum_of_two() {
  ScalarBuilder b;
  const Scalar x = b.input(0, DType::f32), y = b.input(1, DType::f32);
  return b.finish({x + y});
}

Access access(Dims outer, int64_t inner = 1) {
  Access access;
  access.outer = outer;
  access.inner = inner;
  return access;
}

// x[batch, heads, rows, columns] + y[batch, 1, 1, columns], as steps have it.
RowStep addition(int64_t batch, int64_t rows, int64_t columns) {
  RowStep step;
  step.outer = {batch, rows};
  step.inner = columns;
  step.inputs = {access({rows * columns, columns}), access({columns, 0})};
  step.outputs = {access({rows * columns, columns})};
  step.body = sum_of_two();
  return step;
}

RowStep row_sums(int64_t rows, int64_t columns) {
  RowStep step;
  step.outer = {rows};
  step.inner = columns;
  step.inputs = {access({columns})};
  step.outputs = {access({1}, 0)};
  ScalarBuilder b;
  step.body = b.finish({b.apply(Prim::reduce_sum, b.input(0, DType::f32))});
  return step;
}

ColumnStep column_sums(int64_t batch, int64_t rows, int64_t columns) {
  ColumnStep step;
  step.outer = {batch};
  step.reduce = {rows};
  step.inner = columns;
  Access in = access({rows * columns}), out = access({columns});
  in.reduce = {columns};
  out.reduce = {0};
  step.inputs = {in};
  step.outputs = {out};
  ScalarBuilder b;
  step.body = b.finish({b.apply(Prim::reduce_sum, b.input(0, DType::f32))});
  return step;
}

RowForm form_of(const RowStep& step) {
  return row_form(analysed(step, CpuLevel::avx512), CpuLevel::avx512);
}
ColumnForm form_of(const ColumnStep& step) {
  return column_form(analysed(step, CpuLevel::avx512), CpuLevel::avx512);
}

std::string key(const RowStep& step) { return form_key(form_of(step)); }
std::string key(const ColumnStep& step) { return form_key(form_of(step)); }

RowStep without_batch(RowStep step) {
  step.outer.erase(0);
  for (Access& input : step.inputs) input.outer.erase(0);
  for (Access& output : step.outputs) output.outer.erase(0);
  return step;
}

TEST(RowForms, OfAllBatchesAndRowsAreOne) {
  EXPECT_EQ(key(addition(2, 3, 32)), key(without_batch(addition(1, 9, 32))));
  EXPECT_EQ(key(addition(2, 3, 32)), key(addition(7, 100, 32)));
  EXPECT_EQ(key(row_sums(2, 384)), key(row_sums(90, 384)));
}

TEST(RowForms, WithoutReductionsAreOneForAllLengths) {
  EXPECT_EQ(key(addition(2, 3, 17)), key(addition(2, 3, 400)));
  RowStep flat = addition(2, 3, 17);
  flat.outer = {};
  for (Access* operand : {&flat.inputs[0], &flat.inputs[1], &flat.outputs[0]})
    operand->outer = {};
  RowStep longer = flat;
  longer.inner = 5000;
  EXPECT_EQ(key(flat), key(longer));
}

TEST(RowForms, DifferWhereTheCodeDoes) {
  EXPECT_NE(key(row_sums(2, 384)), key(row_sums(2, 385)));
  // Straight-line code of a few whole vectors.
  EXPECT_NE(key(addition(2, 3, 16)), key(addition(2, 3, 32)));
  EXPECT_NE(key(addition(2, 3, 16)), key(addition(2, 3, 17)));
  RowStep step = addition(2, 3, 100), strided = step;
  strided.inputs[0].inner = 2;
  EXPECT_NE(key(step), key(strided));
  RowStep broadcast = step;
  broadcast.inputs[0].outer = {300, 0};
  EXPECT_NE(key(step), key(broadcast));
}

TEST(RowForms, OfTransposesAreOneForAllPitches) {
  const auto transpose = [](int64_t rows, int64_t columns) {
    RowStep step = addition(1, rows, columns);
    step.outer = {rows};
    for (Access* operand : {&step.inputs[0], &step.inputs[1]})
      operand->outer = {1}, operand->inner = rows;
    step.outputs[0].outer = {columns};
    return step;
  };
  EXPECT_EQ(key(transpose(64, 48)), key(transpose(130, 48)));
  EXPECT_NE(key(transpose(64, 48)), key(transpose(64, 49)));
}

TEST(RowForms, ArgumentsAreWhatFormsLack) {
  const RowStep step = addition(2, 3, 17);
  const std::vector<int64_t> numbers = step_arguments(step);
  const ArgumentPlaces places(form_of(step).loops);
  EXPECT_EQ(numbers[places.inner()], 17);
  EXPECT_EQ(numbers[places.outer(0)], 2);
  EXPECT_EQ(numbers[places.outer(1)], 3);
  EXPECT_EQ(numbers[places.outer(0, 0)], 51);
  EXPECT_EQ(numbers[places.outer(1, 0)], 17);
  EXPECT_EQ(numbers[places.outer(2, 1)], 17);
  EXPECT_EQ(numbers[places.inner(2)], 1);
}

TEST(RowForms, NumbersOfAnySizeAreNoArguments) {
  const RowForm form = form_of(row_sums(2, 1 << 20));
  ASSERT_FALSE(form.loops.inner.is_argument());
  EXPECT_EQ(form.loops.inner.number(), 1 << 20);
  EXPECT_TRUE(form.loops.outer.back().is_argument());
  EXPECT_NE(Extent(1 << 20), Extent::argument());
}

TEST(ColumnForms, OfAllBatchesAndLongReductionsAreOne) {
  ColumnStep alone = column_sums(1, 30, 64);
  alone.outer = alone.inputs[0].outer = alone.outputs[0].outer = {};
  EXPECT_EQ(key(alone), key(column_sums(5, 400, 64)));
  EXPECT_EQ(key(column_sums(1, 9, 64)), key(column_sums(5, 400, 64)));
  EXPECT_NE(key(column_sums(1, 3, 64)), key(column_sums(1, 4, 64)));
  EXPECT_NE(key(column_sums(1, 9, 64)), key(column_sums(1, 9, 65)));
}

TEST(ColumnForms, OfAsManyVectorsInTheLastBlockAreOne) {
  EXPECT_EQ(key(column_sums(1, 9, 256)), key(column_sums(1, 9, 1280)));
  EXPECT_EQ(key(column_sums(1, 9, 3)), key(column_sums(1, 9, 15)));
  EXPECT_EQ(key(column_sums(1, 9, 256 + 20)), key(column_sums(1, 9, 512 + 31)));
  EXPECT_NE(key(column_sums(1, 9, 15)), key(column_sums(1, 9, 16)));
  EXPECT_NE(key(column_sums(1, 9, 20)), key(column_sums(1, 9, 256 + 20)));
  EXPECT_NE(key(column_sums(1, 9, 1)), key(column_sums(1, 9, 2)));
}

ColumnStep column_means(double count, double bound) {
  ColumnStep step = column_sums(1, 9, 64);
  ScalarBuilder b;
  const Scalar sum = b.apply(Prim::reduce_sum, b.input(0, DType::f32));
  step.body = b.finish(
      {b.apply(Prim::maximum, sum / count, b.constant(bound, DType::f32))});
  return step;
}

TEST(ColumnForms, CountsAreArguments) {
  EXPECT_EQ(key(column_means(49, 0)), key(column_means(784, 0)));
  EXPECT_NE(key(column_means(49, 0)), key(column_means(49, 1)));
  const ColumnForm form = form_of(column_means(49, 0));
  ASSERT_EQ(form.numbers, 1);
  const auto at = ArgumentPlaces(form.loops).end();
  const auto numbers = step_arguments(column_means(49, 0));
  EXPECT_EQ(numbers.at(at), std::bit_cast<int32_t>(49.0f));
}

AttentionStep attention(int64_t batch, int64_t queries, int64_t keys) {
  AttentionStep step;
  step.batch = batch;
  step.heads = 3;
  step.queries = queries;
  step.keys = keys;
  step.depth = step.value_depth = 32;
  step.q = step.out = {3 * queries * 32, queries * 32, 32};
  step.k = step.v = {3 * keys * 32, keys * 32, 32};
  step.masks = {{passes::MaskKind::add, {keys, 0, 0}, 1}};
  return step;
}

TEST(AttentionForms, ServeAllLengths) {
  for (CpuLevel level : {CpuLevel::sse41, CpuLevel::avx2, CpuLevel::avx512}) {
    const AttentionForm first =
        attention_form(analysed(attention(1, 18, 18), level));
    const auto form = [&](int64_t length) {
      return attention_form(analysed(attention(3, length, length), level));
    };
    for (int64_t length : {17, 19, 40, 128})
      EXPECT_EQ(form(length), first) << length;
    // Without AVX-512, many keys are taken in blocks by a form of their own.
    for (int64_t length : {130, 400, 900})
      EXPECT_EQ(form(length), level == CpuLevel::avx512 ? first : form(400))
          << length;
    // One query and a growing number of keys.
    const AttentionForm step =
        attention_form(analysed(attention(1, 1, 16), level));
    for (int64_t keys : {17, 18, 100, 512})
      EXPECT_EQ(attention_form(analysed(attention(4, 1, keys), level)), step)
          << keys;
  }
}

TEST(AttentionForms, DifferWhereTheCodeDoes) {
  const auto key = [](const AttentionStep& step) {
    return form_key(attention_form(analysed(step, CpuLevel::avx512)));
  };
  const AttentionStep step = attention(1, 20, 20);
  AttentionStep other = step;
  other.depth = 64;
  EXPECT_NE(key(step), key(other));
  other = step;
  other.scale = 2;
  EXPECT_NE(key(step), key(other));
  other = step;
  other.causal = true;
  EXPECT_NE(key(step), key(other));
  other = step;
  other.masks[0].access.row = 20;
  EXPECT_NE(key(step), key(other));
  other = step;
  other.masks[0].kind = passes::MaskKind::hide;
  EXPECT_NE(key(step), key(other));
  EXPECT_NE(key(step), key(attention(1, 20, 5)));
  EXPECT_NE(key(step), key(attention(1, 200, 50000)));
}

}  // namespace TEST_FILE
}  // namespace fxjit::program
