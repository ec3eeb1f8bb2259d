// Attention written out, and what looks like it but is not.

#include <limits>

#include "tests/passes/attention_inputs.h"

namespace fxjit {
namespace TEST_FILE {

const auto kIsAttention = Contains(StartsWith("attention"));

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

// A query that sees no key gives zeros, by torch's ONNX exporter.
TEST(FuseAttention, ProbabilitiesWithoutNan) {
  const float hidden = -std::numeric_limits<float>::infinity();
  const Tensor mask = Tensor::zeros({5, 7});
  for (int64_t key = 0; key < 7; ++key)
    for (const int64_t query : {0, 3})
      mask.data_as<float>()[query * 7 + key] =
          query == 0 || key > 2 ? hidden : 0;
  expect_fused(
      [](Value q, Value k, Value v, Value m) {
        const Value p = softmax(scores(q, k) * 0.3 + m, -1);
        return matmul(where(isnan(p), 0.0, p), v);
      },
      with(heads(), mask));
}

TEST(FuseAttention, NotWhereNanBecomesAnotherNumber) {
  expect_not_fused(
      [](Value q, Value k, Value v) {
        const Value p = softmax(scores(q, k) * 0.3, -1);
        return matmul(where(isnan(p), 1.0, p), v);
      },
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

// Several masks, before and after scales, as factors of the batch see them.

TEST(FuseAttention, MasksInSequence) {
  const ValueList masks = with(with(heads(), random_tensor({3, 5, 7}, 4)),
                               random_tensor({2, 1, 1, 7}, 5));
  expect_fused(
      [](Value q, Value k, Value v, Value bias, Value mask) {
        return matmul(softmax(scores(q, k) / 2.5 + bias + mask, -1), v);
      },
      masks);
  expect_fused(
      [](Value q, Value k, Value v, Value bias, Value mask) {
        const Value s = mask + (scores(q, k) + bias) * 0.5;
        return matmul(softmax(s, -1), v);
      },
      masks);
  expect_fused(
      [](Value q, Value k, Value v, Value bias, Value mask) {
        const Value s = add(sub(scores(q, k), bias), mask, 2);
        return matmul(softmax(s * 2, -1), v);
      },
      masks);
}

// A sum whose other term looks like scores as well.
TEST(FuseAttention, MaskThatIsAProductItself) {
  const Passed passed = run_passes(
      [](Value q, Value k, Value v, Value r) {
        const Value by_place = matmul(q, transpose(r, -2, -1)) * 0.5;
        return matmul(softmax((by_place + scores(q, k)) / 2.0, -1), v);
      },
      with(heads(), random_tensor({2, 3, 7, 8}, 4)));
  EXPECT_THAT(regions(passed.model), kIsAttention);
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(FuseAttention, FilledScores) {
  const Tensor hidden =
      testing::random_index({2, 1, 5, 7}, 2, 5).to(DType::boolean);
  for (double value : {-1e9, -2.0, -std::numeric_limits<double>::infinity()}) {
    expect_fused(
        [&](Value q, Value k, Value v, Value m) {
          return matmul(softmax(masked_fill(scores(q, k), m, value), -1), v);
        },
        with(heads(), hidden));
    expect_fused(
        [&](Value q, Value k, Value v, Value m) {
          const Value s = where(m, scores(q, k) * 0.5, value);
          return matmul(softmax(s / 2, -1), v);
        },
        with(heads(), hidden));
    expect_fused(
        [&](Value q, Value k, Value v, Value m) {
          const Value lowest = full(Value::tuple({}), value, DType::f32);
          const Value s = where(m, lowest, scores(q, k));
          return matmul(softmax(s, -1), v);
        },
        with(heads(), hidden));
  }
}

// Windows of images: the scores are seen as [images, windows, ..] for one mask.
TEST(FuseAttention, MaskOfWindows) {
  for (int64_t images : {1, 2}) {
    expect_fused(
        [&](Value q, Value k, Value v, Value bias, Value mask) {
          Value s = scores(q * 0.5, k) + unsqueeze(bias, 0);
          s = view(s, {images, 3, 2, 5, 5}) + unsqueeze(unsqueeze(mask, 1), 0);
          s = softmax(view(s, {-1, 2, 5, 5}), -1);
          return reshape(transpose(matmul(s, v), 1, 2), {images * 3, 5, 16});
        },
        {random_tensor({images * 3, 2, 5, 8}, 1),
         random_tensor({images * 3, 2, 5, 8}, 2),
         random_tensor({images * 3, 2, 5, 8}, 3), random_tensor({2, 5, 5}, 4),
         random_tensor({3, 5, 5}, 5)});
  }
}

// Heads and batch are one dim of the products, two where the mask is added.
TEST(FuseAttention, BatchOfProductsSplitForTheMask) {
  expect_fused(
      [](Value q, Value k, Value v, Value mask) {
        Value s = bmm(q, transpose(k, 1, 2));
        s = view(view(s, {2, 3, 5, 7}) + mask, {6, 5, 7});
        const Value y = view(bmm(softmax(s, -1), v), {2, 3, 5, 4});
        return reshape(transpose(y, 1, 2), {2, 5, 12});
      },
      {random_tensor({6, 5, 8}, 1), random_tensor({6, 7, 8}, 2),
       random_tensor({6, 7, 4}, 3), random_tensor({2, 1, 1, 7}, 4)});
}

TEST(FuseAttention, AddedBatchedProducts) {
  expect_fused(
      [](Value q, Value k, Value v, Value slopes) {
        const Value s = ops::call_function(ops::get_function("torch.baddbmm"),
                                           {slopes, q, transpose(k, 1, 2)},
                                           {{"beta", 0.7}, {"alpha", 0.3}});
        return bmm(softmax(s, -1), v);
      },
      {random_tensor({6, 5, 8}, 1), random_tensor({6, 7, 8}, 2),
       random_tensor({6, 7, 4}, 3), random_tensor({6, 1, 7}, 4)});
}

// The scale of queries moves to the scores, through views, unless others read
// the scaled queries.
TEST(FuseAttention, ScaledQueriesAndKeys) {
  const auto split = [](const Value& x) {
    return transpose(reshape(x, {2, 7, 3, 8}), 1, 2);
  };
  const ValueList inputs{random_tensor({2, 7, 24}, 1),
                         random_tensor({2, 7, 24}, 2),
                         random_tensor({2, 7, 24}, 3)};
  const auto product = [&](Value q, Value k, Value v) {
    const Value s = scores(split(q * 0.25), split(k * 2));
    return matmul(softmax(s, -1), split(v));
  };
  expect_fused(product, inputs);
  EXPECT_THAT(regions(run_passes(product, inputs).model),
              Not(Contains(HasSubstr("mul"))));
  expect_fused(
      [&](Value q, Value k, Value v) {
        const Value scaled = q * 0.25;
        const Value y =
            matmul(softmax(scores(split(scaled), split(k)), -1), split(v));
        return Value::tuple({y, scaled});
      },
      inputs);
}

TEST(FuseAttention, KeysOfFewerBatches) {
  expect_fused([](Value q, Value k,
                  Value v) { return matmul(softmax(scores(q, k), -1), v); },
               {random_tensor({2, 3, 5, 8}, 1), random_tensor({1, 3, 7, 8}, 2),
                random_tensor({2, 3, 7, 4}, 3)});
  expect_fused([](Value q, Value k,
                  Value v) { return matmul(softmax(scores(q, k), -1), v); },
               {random_tensor({2, 3, 5, 8}, 1), random_tensor({7, 8}, 2),
                random_tensor({7, 4}, 3)});
}

TEST(FuseAttention, OfMatrices) {
  expect_fused(
      [](Value q, Value k, Value v) { return mm(softmax(mm(q, t(k)), -1), v); },
      {random_tensor({5, 8}, 1), random_tensor({7, 8}, 2),
       random_tensor({7, 4}, 3)});
}

TEST(FuseAttention, NotWhereAMaskIsLargerThanTheScores) {
  expect_not_fused(
      [](Value q, Value k, Value v, Value m) {
        return matmul(softmax(scores(q, k) + m, -1), v);
      },
      {random_tensor({1, 3, 5, 8}, 1), random_tensor({1, 3, 7, 8}, 2),
       random_tensor({2, 3, 7, 4}, 3), random_tensor({2, 3, 5, 7}, 4)});
}

TEST(FuseAttention, NotWithTheProbabilitiesMasked) {
  expect_not_fused(
      [](Value q, Value k, Value v, Value m) {
        return matmul(softmax(scores(q, k), -1) * m, v);
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

TEST(FuseAttention, CanBeDisabled) {
  const Passed passed =
      run_passes([](Value q, Value k,
                    Value v) { return matmul(softmax(scores(q, k), -1), v); },
                 heads(), {"fuse_attention"});
  EXPECT_THAT(regions(passed.model), Not(kIsAttention));
  EXPECT_EQ(wrong_result(passed), "");
}

}  // namespace TEST_FILE
}  // namespace fxjit
