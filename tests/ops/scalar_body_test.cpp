#include "fxjit/scalar_body.h"

#include <gtest/gtest.h>

#include <limits>

#include "fxjit/error.h"
#include "fxjit/op.h"
#include "src/ops/eager/body_evaluator.h"

namespace fxjit {
namespace TEST_FILE {

TEST(ScalarBody, EqualInstructionsAreReused) {
  ScalarBuilder b;
  const Scalar x = b.input(0, DType::f32);
  const Scalar y = x * 2.0 + x * 2.0;
  EXPECT_EQ(b.finish({y}).str(),
            "%0:f32 = input 0\n"
            "%1:f32 = constant 2.0\n"
            "%2:f32 = mul %0 %1\n"
            "%3:f32 = add %2 %2\n"
            "return %3\n");
}

TEST(ScalarBody, SignedZerosAndNanConstantsAreKeptApart) {
  ScalarBuilder b;
  EXPECT_NE(b.constant(0.0, DType::f32).id, b.constant(-0.0, DType::f32).id);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(b.constant(nan, DType::f32).id, b.constant(nan, DType::f32).id);
  const int64_t large = (int64_t{1} << 53) + 1;
  EXPECT_NE(b.constant_int(large, DType::i64).id,
            b.constant_int(large - 1, DType::i64).id);
}

TEST(ScalarBody, FinishDropsWhatNoResultNeeds) {
  ScalarBuilder b;
  b.input(0, DType::f32);
  const Scalar y = b.input(1, DType::f32);
  static_cast<void>(y * 3.0);
  const ScalarBody body = b.finish({-y});
  ASSERT_EQ(body.instrs.size(), 2u);
  EXPECT_EQ(body.instrs[0].slot, 1);
}

TEST(ScalarBody, TypesFollowTheFirstArgument) {
  ScalarBuilder b;
  const Scalar x = b.input(0, DType::i32);
  EXPECT_EQ(b.apply(Prim::lt, x, x).type(), DType::boolean);
  EXPECT_EQ(b.cast(x, DType::f32).type(), DType::f32);
  EXPECT_EQ(b.cast(x, DType::i32).id, x.id);
  EXPECT_THROW(b.apply(Prim::add, x, b.input(1, DType::f32)), UserError);
  EXPECT_THROW(b.apply(Prim::add, x), UserError);
  EXPECT_THROW(b.select(x, x, x), UserError);
}

TEST(ScalarBody, InliningBindsInputs) {
  ScalarBuilder inner;
  const Scalar x = inner.input(0, DType::f32), y = inner.input(1, DType::f32);
  const ScalarBody body = inner.finish({x - y, x + y});
  ScalarBuilder outer;
  const Scalar a = outer.input(3, DType::f64), c = outer.input(0, DType::f32);
  const std::vector<Scalar> results = outer.inline_body(body, {a, c});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(outer.finish({results[0]}).str(),
            "%0:f64 = input 3\n"
            "%1:f32 = input 0\n"
            "%2:f32 = cast %0\n"
            "%3:f32 = sub %2 %1\n"
            "return %3\n");
}

TEST(ScalarBody, EveryPrimitiveHasNameAndArity) {
  for (int i = 0; i <= static_cast<int>(Prim::reduce_all); ++i) {
    const Prim prim = static_cast<Prim>(i);
    EXPECT_NE(std::string(prim_name(prim)), "");
    EXPECT_EQ(prim_arity(prim) == 0, prim <= Prim::index);
  }
  EXPECT_TRUE(is_reduction(Prim::reduce_any));
  EXPECT_FALSE(is_reduction(Prim::cast));
}

TEST(ScalarBody, OfACallCastsToTheComputeTypeAndBack) {
  const std::vector<Value> args{Tensor::meta({4}, DType::f16),
                                Tensor::meta({4}, DType::i32), 1};
  EXPECT_EQ(ops::scalar_body({ops::get_op("add"), args}).str(),
            "%0:f32 = input 0\n"
            "%1:i32 = input 1\n"
            "%2:f32 = cast %1\n"
            "%3:f32 = add %0 %2\n"
            "return %3\n");
}

TEST(BodyEvaluator, ManyBlocksSeveralResultsAndPositions) {
  ScalarBuilder b;
  const Scalar x = b.input(0, DType::f32);
  const Scalar row = b.cast(b.index(0), DType::f32);
  const Scalar column = b.cast(b.index(1), DType::f32);
  const ScalarBody body = b.finish({x + row * 1000.0 + column, x * 2.0});
  std::vector<float> values(700);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i) / 16;
  // Read with the rows reversed, so that every block crosses row ends.
  const Tensor input =
      Tensor::from(values, {700}).as_strided({3, 700}, {0, -1}, 699);
  const Tensor outputs[] = {Tensor::empty({3, 700}),
                            Tensor::empty({3, 700}, DType::f64)};
  ops::evaluate_body(body, std::span(&input, 1), outputs);
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t k = 0; k < 700; ++k) {
      const double x_value = static_cast<double>(699 - k) / 16;
      ASSERT_EQ(outputs[0].at({i, k}),
                static_cast<float>(x_value + 1000.0 * static_cast<double>(i) +
                                   static_cast<double>(k)));
    }
}

}  // namespace TEST_FILE
}  // namespace fxjit
