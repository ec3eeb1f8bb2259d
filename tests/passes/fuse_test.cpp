// Which ops share a region: products with what follows them, rows, columns,
// gathers, copies; and that no region depends on itself.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

template <typename F>
std::vector<std::string> fused(F f, ValueList inputs,
                               std::vector<std::string> disabled = {}) {
  const Passed passed = run_passes(f, std::move(inputs), std::move(disabled));
  EXPECT_EQ(wrong_result(passed), "");
  return regions(passed.model);
}

// --- Products. ---

const Tensor kWeight = random_tensor({8, 6}, 50);
const Tensor kBias = random_tensor({8}, 51);

TEST(FuseContraction, BiasAndActivation) {
  EXPECT_THAT(
      fused([](Value x) { return F::gelu(F::linear(x, kWeight, kBias)); },
            {random_tensor({5, 6})}),
      ElementsAre("contraction: contract+add+gelu"));
}

TEST(FuseContraction, Residual) {
  EXPECT_THAT(
      fused([](Value x, Value r) { return F::linear(x, kWeight, kBias) + r; },
            {random_tensor({2, 5, 6}), random_tensor({2, 5, 8})}),
      ElementsAre("contraction: contract+add+add"));
}

TEST(FuseContraction, GateFromAnotherProduct) {
  const Tensor other = random_tensor({8, 6}, 52);
  const auto list = fused(
      [&](Value x) {
        return F::silu(F::linear(x, kWeight)) * F::linear(x, other);
      },
      {random_tensor({5, 6})});
  EXPECT_THAT(list, ElementsAre("contraction: contract",
                                "contraction: contract+silu+mul"));
}

TEST(FuseContraction, ResultUsedTwiceIsStoredTwice) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    const Value y = F::linear(x, kWeight, kBias);
                    return Value::tuple({y, relu(y), tanh(y) * 2});
                  },
                  {random_tensor({5, 6})}),
              ElementsAre("contraction: contract+add+relu+tanh+mul"));
}

TEST(FuseContraction, ExtrasAlongRowsAndColumns) {
  const auto f = [](Value x, Value e) { return F::linear(x, kWeight) * e; };
  for (const Dims& extra :
       {Dims{8}, Dims{1, 8}, Dims{1, 1}, Dims{}, Dims{2, 5, 1}, Dims{2, 5, 8}})
    EXPECT_THAT(fused(f, {random_tensor({2, 5, 6}), random_tensor(extra)}),
                ElementsAre("contraction: contract+mul"))
        << extra.str();
  EXPECT_THAT(fused(f, {random_tensor({5, 6}), random_tensor({5, 1})}),
              ElementsAre("contraction: contract+mul"));
}

TEST(FuseContraction, NotWithExtrasThatTilesCannotAddress) {
  // Rows of both dims are one to a tile.
  for (const Value& extra :
       {transpose(random_tensor({5, 2, 8}), 0, 1), Value(random_tensor({5, 1})),
        Value(random_tensor({2, 1, 8}))})
    EXPECT_THAT(
        fused([](Value x, Value e) { return F::linear(x, kWeight) * e; },
              {random_tensor({2, 5, 6}), extra}),
        ElementsAre("contraction: contract", "rows: mul"));
}

TEST(FuseContraction, NotWithAnotherType) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    return method(F::linear(x, kWeight), "to", {DType::f64});
                  },
                  {random_tensor({5, 6})}),
              ElementsAre("contraction: contract", StartsWith("rows: ")));
  EXPECT_THAT(fused([](Value x, Value i) { return F::linear(x, kWeight) + i; },
                    {random_tensor({5, 6}), random_index({5, 8}, 9)}),
              ElementsAre("contraction: contract", "rows: add"));
}

TEST(FuseContraction, MasksAreFine) {
  const Tensor mask = random_index({5, 8}, 2).to(DType::boolean);
  EXPECT_THAT(
      fused(
          [](Value x, Value m) { return where(m, F::linear(x, kWeight), 0.0); },
          {random_tensor({5, 6}), mask}),
      ElementsAre(StartsWith("contraction: contract")));
}

TEST(FuseContraction, NotAcrossAChangeOfShape) {
  EXPECT_THAT(
      fused(
          [](Value x, Value y) {
            return y + relu(transpose(F::linear(x, kWeight), 0, 1));
          },
          {random_tensor({5, 6}), random_tensor({8, 5})}),
      ElementsAre("contraction: contract", "rows: relu+add"));
}

// In the result's order of memory it is none.
TEST(FuseContraction, AcrossAChangeOfShapeOfTheResult) {
  EXPECT_THAT(
      fused(
          [](Value x) { return relu(transpose(F::linear(x, kWeight), 0, 1)); },
          {random_tensor({5, 6})}),
      ElementsAre("contraction: contract+relu"));
}

TEST(FuseContraction, NotAReductionOfItsResult) {
  EXPECT_THAT(fused([](Value x) { return softmax(F::linear(x, kWeight), -1); },
                    {random_tensor({5, 6})}),
              ElementsAre("contraction: contract", StartsWith("rows: amax")));
}

TEST(FuseContraction, NotSquaresForANormOfWhatIsStored) {
  EXPECT_THAT(
      fused(
          [](Value x, Value r) {
            const Value y = F::linear(x, kWeight) + r;
            const Value n = y * rsqrt(mean(y * y, -1, true) + 1e-6);
            return Value::tuple({y, n});
          },
          {random_tensor({5, 6}), random_tensor({5, 8})}),
      ElementsAre("contraction: contract+add", StartsWith("rows: mul+sum")));
}

TEST(FuseContraction, SquaresThatAloneAreStored) {
  EXPECT_THAT(
      fused(
          [](Value x) {
            const Value y = F::linear(x, kWeight, kBias);
            return sum(y * y, -1);
          },
          {random_tensor({5, 6})}),
      ElementsAre("contraction: contract+add+mul", StartsWith("rows: sum")));
}

TEST(FuseContraction, BatchesWithTheirOwnWeights) {
  EXPECT_THAT(
      fused([](Value x, Value y, Value b) { return relu(bmm(x, y) + b); },
            {random_tensor({3, 5, 6}), random_tensor({3, 6, 7}),
             random_tensor({7})}),
      ElementsAre("contraction: contract+add+relu"));
}

TEST(FuseContraction, EpiloguesCanBeDisabled) {
  EXPECT_THAT(
      fused([](Value x) { return F::gelu(F::linear(x, kWeight, kBias)); },
            {random_tensor({5, 6})}, {"fuse_epilogues"}),
      ElementsAre("contraction: contract", "rows: add+gelu"));
}

TEST(FuseContraction, ScaledSums) {
  EXPECT_THAT(
      fused(
          [](Value c, Value a, Value b) {
            return function("torch.addmm", {c, a, b},
                            {{"beta", 0.5}, {"alpha", 2}});
          },
          {random_tensor({7}), random_tensor({5, 6}), random_tensor({6, 7})}),
      Contains(StartsWith("contraction: contract")));
}

// --- Rows. ---

TEST(FuseRows, ElementwiseChain) {
  EXPECT_THAT(
      fused(
          [](Value x, Value y) {
            const Value gate = sigmoid(x * y + 0.5);
            const Value value = tanh(x - y);
            return gate * value;
          },
          {random_tensor({4, 6}), random_tensor({4, 6}, 2)}),
      ElementsAre("rows: mul+add+sigmoid+sub+tanh+mul"));
}

TEST(FuseRows, Softmax) {
  EXPECT_THAT(
      fused([](Value x) { return softmax(x, -1); }, {random_tensor({4, 6})}),
      ElementsAre("rows: amax+sub+exp+sum+div"));
}

TEST(FuseRows, ResidualWithLayerNorm) {
  EXPECT_THAT(fused(
                  [](Value x, Value r, Value w, Value b) {
                    return F::layer_norm(x + r, Value::tuple({6}), w, b);
                  },
                  {random_tensor({2, 4, 6}), random_tensor({2, 4, 6}, 2),
                   random_tensor({6}), random_tensor({6}, 2)}),
              SizeIs(1));
}

TEST(FuseRows, NormThenSoftmax) {
  EXPECT_THAT(
      fused(
          [](Value x) {
            return softmax(
                F::layer_norm(x + F::gelu(F::layer_norm(x, Value::tuple({6}))),
                              Value::tuple({6})),
                -1);
          },
          {random_tensor({4, 6})}),
      SizeIs(1));
}

TEST(FuseRows, EmbeddingSumWithLayerNorm) {
  const Tensor words = random_tensor({10, 6}, 1),
               places = random_tensor({12, 6}, 2);
  EXPECT_THAT(fused(
                  [&](Value ids, Value at) {
                    return F::layer_norm(
                        F::embedding(ids, words) + F::embedding(at, places),
                        Value::tuple({6}));
                  },
                  {random_index({2, 4}, 10), random_index({2, 4}, 12, 2)}),
              SizeIs(1));
}

TEST(FuseRows, NotReductionsOverDifferentDims) {
  EXPECT_THAT(
      fused([](Value x) { return softmax(x, -1) + sum(x, {1, 2}, true); },
            {random_tensor({4, 5, 6})}),
      SizeIs(testing::regions(
                 run_passes([](Value x) { return sum(x, {1, 2}, true); },
                            {random_tensor({4, 5, 6})})
                     .model)
                 .size() +
             1));
}

TEST(FuseRows, SumUsedInsideAndOutside) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    const Value s = sum(x, -1, true);
                    return Value::tuple({x / s, s * 2});
                  },
                  {random_tensor({4, 6})}),
              SizeIs(1));
}

TEST(FuseRows, PositionsWithinTriangles) {
  EXPECT_THAT(fused([](Value x) { return softmax(tril(x * 2) + 1, -1); },
                    {random_tensor({2, 5, 6})}),
              ElementsAre("rows: mul+tril+add+amax+sub+exp+sum+div"));
  // Rows of two dims have no position.
  EXPECT_THAT(fused([](Value x) { return sum(tril(x), {1, 2}); },
                    {random_tensor({2, 5, 6})}),
              ElementsAre("rows: tril", "rows: sum"));
  EXPECT_THAT(
      fused([](Value x) { return sum(triu(x), 0); }, {random_tensor({5, 6})}),
      ElementsAre("rows: triu", "columns: sum"));
  EXPECT_THAT(fused([](Value x) { return tril(F::linear(x, kWeight)); },
                    {random_tensor({5, 6})}),
              ElementsAre("contraction: contract", "rows: tril"));
}

TEST(FuseRows, CanBeDisabled) {
  EXPECT_THAT(fused([](Value x) { return tanh(x * 2) + 1; },
                    {random_tensor({4, 6})}, {"fuse"}),
              ElementsAre("rows: mul", "rows: tanh", "rows: add"));
}

// --- Columns. ---

TEST(FuseColumns, MeanPooling) {
  const auto list = fused(
      [](Value x, Value mask) {
        const Value m = unsqueeze(mask, -1);
        return sum(x * m, 1) / clamp(sum(m, 1), 1e-9);
      },
      {random_tensor({2, 5, 6}), random_index({2, 5}, 2).to(DType::f32)});
  EXPECT_THAT(list, Contains(StartsWith("columns: mul+sum")));
  EXPECT_THAT(list, SizeIs(2));
}

TEST(FuseColumns, NotWorkThatOthersRead) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    const Value y = x * 2;
                    return Value::tuple({sum(y, 0), y});
                  },
                  {random_tensor({5, 6})}),
              ElementsAre("rows: mul", "columns: sum"));
}

// Of rows that are too long to be computed side by side.
TEST(FuseColumns, VarianceOverTheBatch) {
  EXPECT_THAT(
      fused([](Value x) { return var(x, 0); }, {random_tensor({20000, 9})}),
      Contains(StartsWith("columns: ")));
}

// --- Everything else. ---

TEST(Fuse, CatIsOneRegionOfCopies) {
  EXPECT_THAT(
      fused([](Value x, Value y) { return cat(Value::list({x, relu(y)}), 1); },
            {random_tensor({4, 6}), random_tensor({4, 3})}),
      ElementsAre("rows: relu", "copies: cat"));
}

TEST(Fuse, ViewsTakeNoCode) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    return getitem(transpose(reshape(x, {4, 2, 3}), 0, 1),
                                   Value(1), Value::slice(1, 3));
                  },
                  {random_tensor({4, 6})}),
              IsEmpty());
}

TEST(Fuse, CopiesWhereNoViewWillDo) {
  EXPECT_THAT(fused([](Value x) { return reshape(transpose(x, 0, 1), {24}); },
                    {random_tensor({4, 6})}),
              ElementsAre("rows: materialize"));
}

// relu(x) is read crosswise by a softmax and added to its result: were all one
// region, it would wait for itself.
TEST(Fuse, NoRegionWaitsForItself) {
  EXPECT_THAT(fused(
                  [](Value x) {
                    const Value a = relu(x);
                    return a + softmax(transpose(a, 0, 1), -1);
                  },
                  {random_tensor({6, 6})}),
              ElementsAre("rows: relu", "rows: amax+sub+exp+sum+div+add"));
  EXPECT_THAT(fused(
                  [](Value x) {
                    const Value a = tanh(x);
                    const Value s = sum(a, 0, true);
                    const Value b = a * s;
                    return b + sum(b, 0, true);
                  },
                  {random_tensor({20000, 9})}),
              SizeIs(5));
}

// Operands of products and tables of gathers are read as a whole, so a region
// that computes them comes before.
TEST(Fuse, SourcesComeFromOtherRegions) {
  const Tensor square = random_tensor({6, 6}, 3);
  EXPECT_THAT(fused(
                  [&](Value x) {
                    const Value y = relu(x);
                    return F::linear(y, square) + y;
                  },
                  {random_tensor({5, 6})}),
              ElementsAre("rows: relu", "contraction: contract+add"));
  EXPECT_THAT(fused(
                  [](Value x, Value ids) {
                    const Value table = relu(x);
                    return F::embedding(ids, table) + table;
                  },
                  {random_tensor({5, 6}), random_index({5}, 5)}),
              SizeIs(2));
}

TEST(Fuse, LongChainsAreCut) {
  const auto list = fused(
      [](Value x) {
        for (int i = 0; i < 300; ++i) x = x * 0.99 + 0.01;
        return x;
      },
      {random_tensor({4, 6})});
  EXPECT_GT(list.size(), 1u);
  EXPECT_LT(list.size(), 12u);
}

}  // namespace TEST_FILE
}  // namespace fxjit
