// Linear layers on one input, and batch norm behind convolutions.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

class Layer {
 public:
  Layer(int64_t in, int64_t out, uint32_t seed, bool bias = true)
      : weight_(random_tensor({out, in}, seed)) {
    if (bias) bias_ = random_tensor({out}, seed + 100);
  }
  Value operator()(const Value& x) const {
    return F::linear(x, weight_, bias_.defined() ? Value(bias_) : Value());
  }

 private:
  Tensor weight_, bias_;
};

int products(const Passed& passed) {
  int count = 0;
  for (const std::string& region : regions(passed.model))
    count += region.find("contract") != region.npos;
  return count;
}

TEST(MergeLinears, BecomeOneProduct) {
  const Passed passed = run_passes(
      [q = Layer(6, 8, 1), k = Layer(6, 8, 2), v = Layer(6, 4, 3)](Value x) {
        return matmul(matmul(q(x), transpose(k(x), -2, -1)), v(x));
      },
      {random_tensor({2, 5, 6})});
  EXPECT_THAT(passed.changed, Contains("merge_linears"));
  EXPECT_EQ(products(passed), 3);  // One of them the merged one.
  EXPECT_EQ(wrong_result(passed), "");
}

// Each part is split into heads by `view`, which its merged form cannot give
// without a copy.
TEST(MergeLinears, PartsSeenThroughViews) {
  const Passed passed = run_passes(
      [q = Layer(6, 8, 1), k = Layer(6, 8, 2)](Value x) {
        const Value a = transpose(view(q(x), {2, 5, 2, 4}), 1, 2);
        const Value b = view(k(x), {2, 40});
        return Value::tuple({matmul(a, transpose(a, -2, -1)), b + 1});
      },
      {random_tensor({2, 5, 6})});
  EXPECT_THAT(passed.changed, Contains("merge_linears"));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, WithAndWithoutBiasApart) {
  const Passed passed = run_passes(
      [a = Layer(6, 8, 1), b = Layer(6, 8, 2), c = Layer(6, 8, 3, false),
       d = Layer(6, 8, 4, false)](Value x) {
        return matmul(a(x), transpose(b(x), 0, 1)) +
               matmul(c(x), transpose(d(x), 0, 1));
      },
      {random_tensor({5, 6})});
  EXPECT_EQ(products(passed), 4);
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, OfAVector) {
  const Passed passed = run_passes([a = Layer(6, 8, 1), b = Layer(6, 8, 2)](
                                       Value x) { return matmul(a(x), b(x)); },
                                   {random_tensor({6})});
  EXPECT_THAT(passed.changed, Contains("merge_linears"));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, TheSameLayerTwiceIsOneCall) {
  const Passed passed =
      run_passes([a = Layer(6, 8, 1)](
                     Value x) { return matmul(a(x), transpose(a(x), 0, 1)); },
                 {random_tensor({5, 6})});
  EXPECT_THAT(passed.changed, Not(Contains("merge_linears")));
  EXPECT_EQ(products(passed), 2);
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, OfLayersThatShareWeights) {
  const Passed passed = run_passes(
      [q = Layer(6, 6, 1), k = Layer(6, 6, 2)](Value x) {
        for (int i = 0; i < 3; ++i)
          x = matmul(matmul(q(x), transpose(k(x), 0, 1)), x);
        return x;
      },
      {random_tensor({5, 6})});
  EXPECT_THAT(passed.changed, Contains("merge_linears"));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, NotWhereResultsAreReturned) {
  const Passed passed =
      run_passes([a = Layer(6, 8, 1), b = Layer(6, 8, 2)](
                     Value x) { return Value::tuple({a(x), b(x)}); },
                 {random_tensor({5, 6})});
  EXPECT_THAT(passed.changed, Not(Contains("merge_linears")));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, NotWhereWorkFollowsInRegisters) {
  const Passed passed = run_passes(
      [a = Layer(6, 8, 1), b = Layer(6, 8, 2)](Value x) {
        return matmul(relu(a(x)), transpose(F::gelu(b(x)), 0, 1));
      },
      {random_tensor({5, 6})});
  EXPECT_THAT(passed.changed, Not(Contains("merge_linears")));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, NotOnDifferentInputs) {
  const Passed passed = run_passes(
      [a = Layer(6, 8, 1), b = Layer(6, 8, 2)](Value x, Value y) {
        return matmul(a(x), transpose(b(y), 0, 1));
      },
      {random_tensor({5, 6}, 1), random_tensor({5, 6}, 2)});
  EXPECT_THAT(passed.changed, Not(Contains("merge_linears")));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, NotWithWeightsThatAreInputs) {
  const Passed passed = run_passes(
      [a = Layer(6, 8, 1)](Value x, Value w) {
        return matmul(a(x), transpose(F::linear(x, w), 0, 1));
      },
      {random_tensor({5, 6}), random_tensor({8, 6})});
  EXPECT_THAT(passed.changed, Not(Contains("merge_linears")));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, NotWithWeightsThatAreVectors) {
  const Passed passed = run_passes(
      [a = random_tensor({6}, 1), b = random_tensor({6}, 2)](Value x) {
        return outer(F::linear(x, a), F::linear(x, b));
      },
      {random_tensor({5, 6})});
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, OfAConstant) {
  const Passed passed = run_passes(
      [q = Layer(6, 8, 1), k = Layer(6, 8, 2),
       start = random_tensor({5, 6}, 7)](Value x) {
        const Value scores = matmul(q(start), transpose(k(start), 0, 1));
        return matmul(scores, x);
      },
      {random_tensor({5, 6})});
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, NotInDoublePrecision) {
  const Passed passed = run_passes(
      [a = random_tensor({4, 6}, 1).to(DType::f64),
       b = random_tensor({4, 6}, 2).to(DType::f64)](Value x) {
        return matmul(F::linear(x, a), transpose(F::linear(x, b), 0, 1));
      },
      {random_tensor({5, 6}).to(DType::f64)});
  EXPECT_THAT(passed.changed, Not(Contains("merge_linears")));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(MergeLinears, CanBeDisabled) {
  const Passed passed =
      run_passes([a = Layer(6, 8, 1), b = Layer(6, 8, 2)](
                     Value x) { return matmul(a(x), transpose(b(x), 0, 1)); },
                 {random_tensor({5, 6})}, {"merge_linears"});
  EXPECT_THAT(passed.changed, Not(Contains("merge_linears")));
  EXPECT_EQ(products(passed), 3);
  EXPECT_EQ(wrong_result(passed), "");
}

// --- Batch norm. ---

class Norm {
 public:
  explicit Norm(int64_t channels)
      : mean_(random_tensor({channels}, 11)),
        var_(call_abs(random_tensor({channels}, 12))),
        weight_(random_tensor({channels}, 13)),
        bias_(random_tensor({channels}, 14)) {}
  Value operator()(const Value& x) const {
    return F::batch_norm(x, mean_, var_, weight_, bias_);
  }

 private:
  static Tensor call_abs(const Tensor& t) {
    return (operators::abs(Value(t)) + 0.5).as_tensor();
  }
  Tensor mean_, var_, weight_, bias_;
};

std::string label(const Passed& passed) {
  std::string text;
  for (const std::string& region : regions(passed.model)) text += region + ";";
  return text;
}

TEST(FoldBatchNorm, IntoTheConvolutionBefore) {
  const Tensor weight = random_tensor({4, 3, 3, 3}, 1);
  for (const Value& bias : {Value(), Value(random_tensor({4}, 2))}) {
    const Passed passed =
        run_passes([&, norm = Norm(4)](
                       Value x) { return norm(F::conv2d(x, weight, bias)); },
                   {random_tensor({2, 3, 6, 7})});
    EXPECT_THAT(passed.changed, Contains("fold_batch_norm"));
    EXPECT_EQ(label(passed), "call: conv_last;rows: materialize;");
    EXPECT_EQ(wrong_result(passed), "");
  }
}

TEST(FoldBatchNorm, NotWhereTheConvolutionIsUsedElsewhere) {
  const Tensor weight = random_tensor({4, 3, 3, 3}, 1);
  const Passed passed = run_passes(
      [&, norm = Norm(4)](Value x) {
        const Value y = F::conv2d(x, weight);
        return norm(y) + y;
      },
      {random_tensor({2, 3, 6, 7})});
  EXPECT_THAT(passed.changed, Not(Contains("fold_batch_norm")));
  EXPECT_EQ(wrong_result(passed), "");
}

// Without a batch dim, batch norm takes the rows for channels.
TEST(FoldBatchNorm, NotWithoutABatch) {
  const Tensor weight = random_tensor({4, 3, 3, 3}, 1);
  const Passed passed = run_passes(
      [&, norm = Norm(4)](Value x) { return norm(F::conv2d(x, weight)); },
      {random_tensor({3, 6, 7})});
  EXPECT_THAT(passed.changed, Not(Contains("fold_batch_norm")));
  EXPECT_EQ(wrong_result(passed), "");
}

// The scale of a channel without variance is infinite: a weight of zero times
// it is NaN, while the sums that batch norm scales are not zero.
TEST(FoldBatchNorm, NotByScalesThatAreNotFinite) {
  Tensor weight = random_tensor({2, 3, 1, 1}, 1);
  weight.data_as<float>()[0] = 0;
  const Tensor mean = Tensor::full({2}, 0.0), var = mean.clone();
  const Passed passed = run_passes(
      [&](Value x) {
        return F::batch_norm(F::conv2d(x, weight), mean, var, None, None, false,
                             0.1, 0.0);
      },
      {random_tensor({2, 3, 6, 7})});
  EXPECT_THAT(passed.changed, Not(Contains("fold_batch_norm")));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(FoldBatchNorm, NotWithWeightsThatAreInputs) {
  const Passed passed = run_passes(
      [norm = Norm(4)](Value x, Value w) { return norm(F::conv2d(x, w)); },
      {random_tensor({2, 3, 6, 7}), random_tensor({4, 3, 3, 3})});
  EXPECT_THAT(passed.changed, Not(Contains("fold_batch_norm")));
  EXPECT_EQ(wrong_result(passed), "");
}

}  // namespace TEST_FILE
}  // namespace fxjit
