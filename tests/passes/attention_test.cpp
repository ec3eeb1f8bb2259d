// Attention written out, and what looks like it but is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/passes/pass_testing.h"

namespace fxjit {
namespace {

namespace F = nn::functional;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Passed;
using testing::random_tensor;
using testing::regions;
using testing::run_passes;
using ::testing::StartsWith;
using testing::wrong_result;

const auto kIsAttention = Contains(StartsWith("attention"));

ValueList heads(int64_t queries = 5, int64_t keys = 7) {
  return {random_tensor({2, 3, queries, 8}, 1),
          random_tensor({2, 3, keys, 8}, 2), random_tensor({2, 3, keys, 4}, 3)};
}

ValueList with(ValueList inputs, const Tensor& more) {
  inputs.push_back(more);
  return inputs;
}

Value scores(const Value& q, const Value& k) {
  return matmul(q, transpose(k, -2, -1));
}

template <typename F>
void expect_fused(F f, ValueList inputs) {
  const Passed passed = run_passes(f, std::move(inputs));
  EXPECT_THAT(passed.changed, Contains("fuse_attention"));
  EXPECT_THAT(regions(passed.model), kIsAttention);
  EXPECT_THAT(regions(passed.model), Not(Contains(HasSubstr("contract"))));
  EXPECT_EQ(wrong_result(passed), "");
}

template <typename F>
void expect_not_fused(F f, ValueList inputs) {
  const Passed passed = run_passes(f, std::move(inputs));
  EXPECT_THAT(regions(passed.model), Not(kIsAttention));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(FuseAttention, DividedScores) {
  expect_fused(
      [](Value q, Value k, Value v) {
        return matmul(softmax(scores(q, k) / 2.5, -1), v);
      },
      heads());
}

TEST(FuseAttention, MultipliedScores) {
  expect_fused(
      [](Value q, Value k, Value v) {
        return matmul(softmax(scores(q, k) * 0.3, 3), v);
      },
      heads());
}

TEST(FuseAttention, PlainScores) {
  expect_fused([](Value q, Value k,
                  Value v) { return matmul(softmax(scores(q, k), -1), v); },
               heads());
}

TEST(FuseAttention, MaskOnEitherSideOfTheSum) {
  const Tensor mask = random_tensor({2, 1, 1, 7}, 4);
  expect_fused(
      [](Value q, Value k, Value v, Value m) {
        return matmul(softmax(scores(q, k) / 2.5 + m, -1), v);
      },
      with(heads(), mask));
  expect_fused([](Value q, Value k, Value v,
                  Value m) { return matmul(softmax(m + scores(q, k), -1), v); },
               with(heads(), mask));
}

TEST(FuseAttention, MaskOfFewerDims) {
  expect_fused([](Value q, Value k, Value v,
                  Value m) { return matmul(softmax(scores(q, k) + m, -1), v); },
               with(heads(), random_tensor({5, 7}, 4)));
}

TEST(FuseAttention, BatchedProductsOfThreeDims) {
  expect_fused(
      [](Value q, Value k, Value v) {
        return bmm(softmax(bmm(q, transpose(k, 1, 2)) * 0.5, -1), v);
      },
      {random_tensor({3, 5, 8}, 1), random_tensor({3, 7, 8}, 2),
       random_tensor({3, 7, 8}, 3)});
}

// Keys that come transposed from their projection, as in most models.
TEST(FuseAttention, HeadsSplitFromProjections) {
  expect_fused(
      [](Value q, Value k, Value v) {
        const auto split = [](const Value& x) {
          return transpose(reshape(x, {2, 7, 3, 8}), 1, 2);
        };
        const Value p = softmax(scores(split(q), split(k)) / 2.8, -1);
        return reshape(transpose(matmul(p, split(v)), 1, 2), {2, 7, 24});
      },
      {random_tensor({2, 7, 24}, 1), random_tensor({2, 7, 24}, 2),
       random_tensor({2, 7, 24}, 3)});
}

// The result lies head by head in eager order; `view` must still be possible.
TEST(FuseAttention, ResultSeenThroughView) {
  expect_fused(
      [](Value q, Value k, Value v) {
        return view(matmul(softmax(scores(q, k), -1), v), {2, 15, 4});
      },
      heads());
}

TEST(FuseAttention, NotWhereProbabilitiesAreUsedElsewhere) {
  expect_not_fused(
      [](Value q, Value k, Value v) {
        const Value p = softmax(scores(q, k), -1);
        return Value::tuple({matmul(p, v), p});
      },
      heads());
}

TEST(FuseAttention, NotWhereScoresAreUsedElsewhere) {
  expect_not_fused(
      [](Value q, Value k, Value v) {
        const Value s = scores(q, k);
        return Value::tuple({matmul(softmax(s, -1), v), s * 2});
      },
      heads());
  expect_not_fused(
      [](Value q, Value k, Value v) {
        const Value s = scores(q, k) * 0.5;
        return Value::tuple({matmul(softmax(s, -1), v), relu(s)});
      },
      heads());
}

TEST(FuseAttention, NotAlongTheQueries) {
  expect_not_fused([](Value q, Value k,
                      Value v) { return matmul(softmax(scores(q, k), -2), v); },
                   heads());
}

TEST(FuseAttention, NotWithAFactorPerQuery) {
  expect_not_fused(
      [](Value q, Value k, Value v, Value s) {
        return matmul(softmax(scores(q, k) * s, -1), v);
      },
      with(heads(), random_tensor({5, 1}, 4)));
}

TEST(FuseAttention, NotWithScaledMasks) {
  expect_not_fused(
      [](Value q, Value k, Value v, Value m) {
        return matmul(softmax(add(scores(q, k), m, 2), -1), v);
      },
      with(heads(), random_tensor({5, 7}, 4)));
}

TEST(FuseAttention, NotWithFloorDivision) {
  expect_not_fused(
      [](Value q, Value k, Value v) {
        return matmul(softmax(div(scores(q, k), 0.25, "floor"), -1), v);
      },
      heads());
}

TEST(FuseAttention, NotInDoublePrecision) {
  ValueList inputs;
  for (const Value& input : heads())
    inputs.push_back(input.as_tensor().to(DType::f64));
  expect_not_fused([](Value q, Value k,
                      Value v) { return matmul(softmax(scores(q, k), -1), v); },
                   inputs);
}

TEST(FuseAttention, NotWhereBatchesBroadcast) {
  expect_not_fused(
      [](Value q, Value k, Value v) {
        return matmul(softmax(scores(q, k), -1), v);
      },
      {random_tensor({2, 3, 5, 8}, 1), random_tensor({1, 3, 7, 8}, 2),
       random_tensor({2, 3, 7, 4}, 3)});
}

TEST(FuseAttention, CanBeDisabled) {
  const Passed passed =
      run_passes([](Value q, Value k,
                    Value v) { return matmul(softmax(scores(q, k), -1), v); },
                 heads(), {"fuse_attention"});
  EXPECT_THAT(regions(passed.model), Not(kIsAttention));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(LowerAttention, CallIsOneRegion) {
  const Passed passed = run_passes(
      [](Value q, Value k, Value v) {
        return F::scaled_dot_product_attention(q, k, v);
      },
      heads());
  EXPECT_THAT(regions(passed.model),
              ElementsAre("attention: attention", "rows: materialize"));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(LowerAttention, ViewsOfItsResult) {
  for (const Dims& sizes : {Dims{2, 3, 20}, Dims{120}, Dims{2, 3, 5, 2, 2}}) {
    const Passed passed = run_passes(
        [&](Value q, Value k, Value v) {
          return view(F::scaled_dot_product_attention(q, k, v), sizes);
        },
        heads());
    EXPECT_EQ(wrong_result(passed), "") << sizes.str();
  }
}

TEST(LowerAttention, CausalBooleanMasksAndScale) {
  const Tensor mask = testing::random_index({5, 7}, 2, 5).to(DType::boolean);
  const Passed masked = run_passes(
      [](Value q, Value k, Value v, Value m) {
        return F::scaled_dot_product_attention(q, k, v, m, 0.0, false, 0.7);
      },
      with(heads(), mask));
  EXPECT_THAT(regions(masked.model), kIsAttention);
  EXPECT_EQ(wrong_result(masked), "");
  const Passed causal = run_passes(
      [](Value q, Value k, Value v) {
        return F::scaled_dot_product_attention(q, k, v, None, 0.0, true);
      },
      heads());
  EXPECT_THAT(regions(causal.model), kIsAttention);
  EXPECT_EQ(wrong_result(causal), "");
}

TEST(LowerAttention, DecomposedWhereNoLoopFits) {
  // Five dims, and keys shared by groups of heads.
  const Passed deep = run_passes(
      [](Value q, Value k, Value v) {
        return F::scaled_dot_product_attention(q, k, v);
      },
      {random_tensor({2, 1, 2, 3, 4}, 1), random_tensor({2, 1, 2, 3, 4}, 2),
       random_tensor({2, 1, 2, 3, 4}, 3)});
  EXPECT_EQ(wrong_result(deep), "");
  const Passed grouped = run_passes(
      [](Value q, Value k, Value v) {
        return F::scaled_dot_product_attention(q, k, v, None, 0.0, false, None,
                                               true);
      },
      {random_tensor({2, 4, 3, 4}, 1), random_tensor({2, 2, 5, 4}, 2),
       random_tensor({2, 2, 5, 4}, 3)});
  EXPECT_THAT(regions(grouped.model), Not(kIsAttention));
  EXPECT_EQ(wrong_result(grouped), "");
}

}  // namespace
}  // namespace fxjit
