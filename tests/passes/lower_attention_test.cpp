// scaled_dot_product_attention as one step, in all dims and dtypes.

#include "tests/passes/attention_inputs.h"

namespace fxjit {
namespace TEST_FILE {

const auto kIsAttention = Contains(StartsWith("attention"));

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

TEST(LowerAttention, OfManyLeadingDims) {
  for (const Dims& leading : {Dims{}, Dims{3}, Dims{2, 1, 2}, Dims{2, 3, 2, 2}})
    for (bool causal : {false, true}) {
      const auto sized = [&](int64_t rows, int64_t depth) {
        Dims sizes = leading;
        sizes.push_back(rows);
        sizes.push_back(depth);
        return sizes;
      };
      const Passed passed = run_passes(
          [&](Value q, Value k, Value v, Value m) {
            return F::scaled_dot_product_attention(
                q, k, v, causal ? Value() : m, 0.0, causal);
          },
          {random_tensor(sized(5, 4), 1), random_tensor(sized(7, 4), 2),
           random_tensor(sized(7, 6), 3), random_tensor(sized(5, 7), 4)});
      EXPECT_THAT(regions(passed.model), kIsAttention);
      EXPECT_EQ(wrong_result(passed), "") << leading.str();
    }
}

// Transposed leading dims that no three strides describe are copied.
TEST(LowerAttention, OfDimsWithoutCommonStrides) {
  const Passed passed = run_passes(
      [](Value q, Value k, Value v) {
        return F::scaled_dot_product_attention(
            permute(q, {3, 1, 0, 2, 4, 5}), k, permute(v, {1, 0, 3, 2, 4, 5}));
      },
      {random_tensor({2, 3, 2, 2, 5, 4}, 1),
       random_tensor({2, 3, 2, 2, 7, 4}, 2),
       random_tensor({3, 2, 2, 2, 7, 4}, 3)});
  EXPECT_THAT(regions(passed.model), kIsAttention);
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(LowerAttention, KeysSharedByGroupsOfHeads) {
  for (int64_t queries : {1, 3})
    for (const Dims& mask :
         {Dims{1, 1, 5}, Dims{2, 1, 1, 5}, Dims{2, 4, 1, 5}}) {
      const Passed grouped = run_passes(
          [](Value q, Value k, Value v, Value m) {
            return F::scaled_dot_product_attention(q, k, v, m, 0.0, false, None,
                                                   true);
          },
          {random_tensor({2, 4, queries, 4}, 1), random_tensor({2, 2, 5, 4}, 2),
           random_tensor({2, 2, 5, 4}, 3), random_tensor(mask, 4)});
      EXPECT_THAT(regions(grouped.model), kIsAttention);
      EXPECT_EQ(wrong_result(grouped), "") << mask.str();
    }
}

// Heads that a model repeats are read in place: nothing copies them.
TEST(LowerAttention, RepeatedHeadsAreNotCopied) {
  const auto expanded = [](const Value& x) {
    return reshape(expand(unsqueeze(x, 2), {2, 2, 3, 5, 4}), {2, 6, 5, 4});
  };
  const auto repeated = [](const Value& x) {
    return repeat_interleave(x, 3, 1);
  };
  const auto plain = [](const Value& q, const Value& k, const Value& v) {
    return F::scaled_dot_product_attention(q, k, v);
  };
  const auto written = [](const Value& q, const Value& k, const Value& v) {
    return matmul(softmax(matmul(q, transpose(k, 2, 3)) * 0.5, -1), v);
  };
  const auto copies_nothing = [](const Passed& passed) {
    // A single query's result lies in order; others are put in order.
    EXPECT_EQ(wrong_result(passed), "");
    const auto made = regions(passed.model);
    ASSERT_FALSE(made.empty());
    EXPECT_THAT(made.front(), StartsWith("attention"));
    EXPECT_LE(made.size(), 2u);
  };
  for (int64_t queries : {1, 3}) {
    const ValueList inputs{random_tensor({2, 6, queries, 4}, 1),
                           random_tensor({2, 2, 5, 4}, 2),
                           random_tensor({2, 2, 5, 4}, 3)};
    copies_nothing(
        run_passes([&](Value q, Value k,
                       Value v) { return plain(q, expanded(k), expanded(v)); },
                   inputs));
    copies_nothing(
        run_passes([&](Value q, Value k,
                       Value v) { return plain(q, repeated(k), repeated(v)); },
                   inputs));
    copies_nothing(run_passes(
        [&](Value q, Value k, Value v) {
          return written(q, expanded(k), expanded(v));
        },
        inputs));
    copies_nothing(run_passes(
        [&](Value q, Value k, Value v) {
          return written(q, repeated(k), repeated(v));
        },
        inputs));
  }
  // Only the keys are repeated, or by unlike factors.
  const Passed uneven = run_passes(
      [&](Value q, Value k, Value v) { return plain(q, repeated(k), v); },
      {random_tensor({2, 6, 1, 4}, 1), random_tensor({2, 2, 5, 4}, 2),
       random_tensor({2, 6, 5, 4}, 3)});
  EXPECT_EQ(wrong_result(uneven), "");
}

TEST(LowerAttention, OfHalfTypesIsComputedInFloats) {
  for (DType type : {DType::f16, DType::bf16}) {
    ValueList inputs;
    for (const Value& input : heads())
      inputs.push_back(input.as_tensor().to(type));
    const Passed passed = run_passes(
        [](Value q, Value k, Value v) {
          return F::scaled_dot_product_attention(q, k, v);
        },
        inputs);
    EXPECT_THAT(regions(passed.model), kIsAttention);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
