// Which bodies are rewritten, and how rows are cut into passes afterwards.
#include "src/program/rows/rewrite.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/program/rows/schedule.h"

namespace fxjit::program {
namespace TEST_FILE {

constexpr int64_t kInner = 100;

Scalar apply(Prim prim, Scalar x) { return x.builder->apply(prim, x); }
Scalar sum(Scalar x) { return apply(Prim::reduce_sum, x); }

// One varying f32 input and one result.
RowStep step_of(ScalarBuilder& b, Scalar result) {
  RowStep step;
  step.outer = {3};
  step.inner = kInner;
  step.inputs.resize(1);
  step.inputs[0].outer = {kInner};
  step.outputs = step.inputs;
  step.body = b.finish({result});
  return step;
}

// y, divided by its sum after a shift by its maximum.
Scalar softmax(Scalar y) {
  Scalar e = apply(Prim::exp, y - apply(Prim::reduce_max, y));
  return e / sum(e);
}

int count(const RowStep& step, Prim prim) {
  return int(std::count_if(step.body.instrs.begin(), step.body.instrs.end(),
                           [&](const auto& i) { return i.prim == prim; }));
}

RowStep rewritten(RowStep step) {
  rewrite_body(step);
  return step;
}

size_t passes(const RowStep& step) {
  return schedule_rows(rewritten(step)).passes.size();
}

// Whether the quotients of x by `divisor`, made from x, become products.
bool multiplies(Scalar (*divisor)(Scalar)) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  const RowStep after = rewritten(step_of(b, x / divisor(x)));
  const ScalarInstr& last = after.body.instrs[size_t(after.body.results[0])];
  return last.prim == Prim::mul;
}

TEST(RowRewrite, DividesByHarmlessRowConstantsOnce) {
  EXPECT_TRUE(multiplies([](Scalar x) { return apply(Prim::sqrt, sum(x)); }));
  EXPECT_TRUE(multiplies(
      [](Scalar x) { return apply(Prim::sqrt, sum(x * x)) + 1e-12; }));
  EXPECT_TRUE(multiplies([](Scalar x) {
    return sum(apply(Prim::exp, x - apply(Prim::reduce_max, x)));
  }));
}

TEST(RowRewrite, KeepsOtherQuotients) {
  // May be denormal, overflow, or differs along the row.
  EXPECT_FALSE(multiplies([](Scalar x) { return sum(x); }));
  EXPECT_FALSE(multiplies([](Scalar x) { return sum(apply(Prim::exp, x)); }));
  EXPECT_FALSE(multiplies([](Scalar x) { return apply(Prim::sqrt, x); }));
  EXPECT_FALSE(
      multiplies([](Scalar x) { return x.builder->constant(41, DType::f32); }));
}

// Sums of safe numbers are safe up to where their reciprocals are normal.
TEST(RowRewrite, BoundsSumsOfRoots) {
  const auto doubled = [](int times) {
    ScalarBuilder b;
    Scalar x = b.input(0, DType::f32);
    Scalar divisor = apply(Prim::sqrt, sum(x));
    for (int i = 0; i < times; ++i) divisor = divisor + divisor;
    const RowStep after = rewritten(step_of(b, x / divisor));
    return after.body.instrs[size_t(after.body.results[0])].prim == Prim::mul;
  };
  EXPECT_TRUE(doubled(62));
  EXPECT_FALSE(doubled(63));
}

// What a softmax is of, and whether its maximum may be taken before the factor.
bool takes_maximum_before(Scalar (*factor)(Scalar)) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  const RowStep after = rewritten(step_of(b, softmax(x * factor(x))));
  for (const ScalarInstr& instr : after.body.instrs)
    if (instr.prim == Prim::reduce_max)
      return after.body.instrs[size_t(instr.args[0])].prim == Prim::input;
  return false;
}

Scalar one_over(Scalar x) { return 1.0 / x; }

// The root of -0 is -0, and its reciprocal minus infinity.
TEST(RowRewrite, KnowsWhichFactorsAreNotNegative) {
  const auto may = takes_maximum_before;
  EXPECT_TRUE(may([](Scalar x) { return apply(Prim::sqrt, sum(x)); }));
  EXPECT_TRUE(may([](Scalar x) { return apply(Prim::rsqrt, sum(x * x)); }));
  EXPECT_TRUE(may([](Scalar x) {
    return one_over(apply(Prim::sqrt, apply(Prim::abs, sum(x))));
  }));
  EXPECT_FALSE(may([](Scalar x) { return apply(Prim::rsqrt, sum(x)); }));
  EXPECT_FALSE(
      may([](Scalar x) { return one_over(apply(Prim::sqrt, sum(x))); }));
  EXPECT_FALSE(may([](Scalar x) {
    return one_over(apply(Prim::sqrt, sum(x)) *
                    x.builder->constant(-0.0, DType::f32));
  }));
  EXPECT_FALSE(may([](Scalar x) {
    return one_over(x.builder->apply(
        Prim::maximum, x.builder->constant(0, DType::f32), sum(x)));
  }));
}

TEST(RowRewrite, TakesTheMaximumOfASoftmaxEarly) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  Scalar centred = x - sum(x) / double(kInner);
  Scalar variance = sum(centred * centred) / double(kInner);
  Scalar y = centred * apply(Prim::rsqrt, variance + 1e-5);
  const RowStep step = step_of(b, softmax(y));
  const RowStep after = rewritten(step);
  const auto maximum =
      std::find_if(after.body.instrs.begin(), after.body.instrs.end(),
                   [](const auto& i) { return i.prim == Prim::reduce_max; });
  ASSERT_NE(maximum, after.body.instrs.end());
  EXPECT_EQ(after.body.instrs[size_t(maximum->args[0])].prim, Prim::input);
  const BodyFacts facts(after.body);
  EXPECT_TRUE(
      facts.only_shifts_softmax(int32_t(maximum - after.body.instrs.begin())));
  // Sum and maximum, squares, exponentials, quotients.
  EXPECT_EQ(passes(step), 4u);
  EXPECT_EQ(schedule_rows(step).passes.size(), 5u);
}

TEST(RowRewrite, LeavesMaximaThatMayFall) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  const RowStep step = step_of(b, softmax(x * sum(x)));  // Of either sign.
  EXPECT_EQ(rewritten(step).body.str(),
            step_of(b,
                    [&] {
                      Scalar x2 = b.input(0, DType::f32);
                      Scalar y = x2 * sum(x2);
                      Scalar e =
                          apply(Prim::exp, y - apply(Prim::reduce_max, y));
                      Scalar total = sum(e);
                      return e * (1.0 / total);
                    }())
                .body.str());
}

TEST(RowRewrite, LeavesMaximaThatAreResults) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  Scalar y = x - sum(x);
  Scalar maximum = apply(Prim::reduce_max, y);
  Scalar e = apply(Prim::exp, y - maximum);
  RowStep step = step_of(b, e / sum(e));
  step.body.results.push_back(maximum.id);
  step.outputs.push_back({});
  step.outputs[1].outer = {1};
  step.outputs[1].inner = 0;
  const RowStep after = rewritten(step);
  const BodyFacts facts(after.body);
  for (size_t i = 0; i < after.body.instrs.size(); ++i) {
    const ScalarInstr& instr = after.body.instrs[i];
    if (instr.prim != Prim::reduce_max) continue;
    EXPECT_EQ(after.body.instrs[size_t(instr.args[0])].prim, Prim::sub);
    EXPECT_FALSE(facts.only_shifts_softmax(int32_t(i)));
  }
  EXPECT_EQ(count(after, Prim::reduce_max), 1);
}

// The difference is a result too: it is NaN where the row's maximum is.
TEST(RowRewrite, KeepsNanOfMaximaWhoseDifferencesAreResults) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  Scalar difference = x - apply(Prim::reduce_max, x);
  Scalar e = apply(Prim::exp, difference);
  Scalar total = sum(e);
  const auto shifts_only = [](const ScalarBody& body) {
    const BodyFacts facts(body);
    for (size_t i = 0; i < body.instrs.size(); ++i)
      if (body.instrs[i].prim == Prim::reduce_max)
        return facts.only_shifts_softmax(int32_t(i));
    return false;
  };
  const Scalar softmax_of = e / total;
  const Scalar log_softmax_of = difference - apply(Prim::log, total);
  const auto body_of = [](ScalarBuilder builder, std::vector<Scalar> results) {
    return builder.finish(results);
  };
  EXPECT_TRUE(shifts_only(body_of(b, {softmax_of})));
  EXPECT_TRUE(shifts_only(body_of(b, {log_softmax_of})));
  EXPECT_FALSE(shifts_only(body_of(b, {softmax_of, difference})));
  EXPECT_FALSE(shifts_only(body_of(b, {softmax_of, e})));
}

TEST(RowSchedule, KeepsDearValuesAndRepeatsCheapOnes) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  Scalar dear = apply(Prim::gelu, x);
  Scalar centred = dear - sum(dear) / double(kInner);
  Scalar variance = sum(centred * centred);
  const RowStep step =
      step_of(b, centred * apply(Prim::rsqrt, variance + 1e-5));
  const RowSchedule schedule = schedule_rows(step);
  ASSERT_EQ(schedule.buffers.size(), 1u);
  EXPECT_EQ(step.body.instrs[size_t(schedule.buffers[0].id)].prim, Prim::gelu);
  EXPECT_GE(schedule.buffer_bytes, size_t{kInner} * 4 + 64);
}

RowSchedule kept_in_results(const RowStep& step) {
  RowSchedule schedule = schedule_rows(step);
  EXPECT_EQ(schedule.buffers.size(), 1u);
  keep_in_results(step, schedule);
  return schedule;
}

TEST(RowSchedule, KeepsValuesWhereTheirResultsWillBe) {
  ScalarBuilder b;
  const RowStep step = step_of(b, softmax(b.input(0, DType::f32)));
  const RowSchedule schedule = kept_in_results(step);
  EXPECT_EQ(schedule.buffers[0].result, 0);
  EXPECT_EQ(schedule.buffer_bytes, 0u);
}

// An input that is read later may be where the result is; results of another
// type do not hold the values.
TEST(RowSchedule, KeepsValuesApartFromOtherResults) {
  ScalarBuilder b;
  Scalar x = b.input(0, DType::f32);
  const RowSchedule later = kept_in_results(step_of(b, softmax(x) * x));
  EXPECT_EQ(later.buffers[0].result, -1);
  EXPECT_GE(later.buffer_bytes, size_t{kInner} * 4);
  ScalarBuilder half;
  RowStep step = step_of(half, softmax(half.input(0, DType::f32)));
  step.outputs[0].dtype = DType::f16;
  EXPECT_EQ(kept_in_results(step).buffers[0].result, -1);
}

}  // namespace TEST_FILE
}  // namespace fxjit::program
