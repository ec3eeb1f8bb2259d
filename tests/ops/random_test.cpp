// Random numbers: equal to PyTorch's for a seed (random_reference.txt, made by
// make_random_reference.py), right in distribution, and drawn by one thread at
// a time.
#include "fxjit/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/functions_random.h"
#include "fxjit/op.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

using testing::StructuredCase;
using Kind = StructuredCase::Kind;

constexpr uint64_t kSeed = 7;  // Of make_random_reference.py.

const std::vector<StructuredCase>& cases() {
  static const auto* const all = new std::vector<StructuredCase>(
      testing::read_structured_reference("random_reference.txt"));
  return *all;
}

std::vector<std::string> names() {
  std::set<std::string> unique;
  for (const StructuredCase& c : cases()) unique.insert(c.op);
  return {unique.begin(), unique.end()};
}

std::vector<Value> own_args(const ops::Op& op, const StructuredCase& c) {
  std::vector<Value> args = ops::bind(op, c.args, c.kwargs);
  if (ops::writes_input({op, args})) args[0] = args[0].as_tensor().clone();
  return args;
}

class RandomRows : public ::testing::TestWithParam<std::string> {};

TEST_P(RandomRows, EqualPyTorchForASeed) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam() || c.kind == Kind::failure) continue;
    SCOPED_TRACE(c.text);
    const std::vector<Value> args = own_args(op, c);
    manual_seed(kSeed);
    const Value result = ops::run_eager({op, args});
    const Value next = rand({1});
    EXPECT_EQ(
        testing::difference(Value::tuple({result, next}), c.expected, false),
        "");
  }
}

TEST_P(RandomRows, InferWhatTheKernelReturns) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam() || c.kind == Kind::failure) continue;
    SCOPED_TRACE(c.text);
    const std::vector<Value> args = own_args(op, c);
    EXPECT_EQ(testing::shape_difference(ops::infer({op, args}),
                                        ops::run_eager({op, args}), false),
              "");
  }
}

TEST_P(RandomRows, FailAsPyTorch) {
  const ops::Op& op = ops::get_op(GetParam());
  for (const StructuredCase& c : cases()) {
    if (c.op != GetParam() || c.kind != Kind::failure) continue;
    SCOPED_TRACE(c.text);
    try {
      const std::vector<Value> args = own_args(op, c);
      ops::run_eager({op, args});
      ADD_FAILURE() << "expected " << c.error_type << ": " << c.error_text;
    } catch (const Error& error) {
      EXPECT_EQ(error.message(), c.error_text);
      EXPECT_EQ(c.error_type == "RuntimeError",
                dynamic_cast<const RuntimeError*>(&error) != nullptr);
      EXPECT_EQ(c.error_type == "NotImplementedError",
                dynamic_cast<const NotImplementedError*>(&error) != nullptr);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, RandomRows, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

TEST(RandomRows, NoneIsMergedOrFolded) {
  for (const StructuredCase& c : cases()) {
    const ops::Purity purity = ops::get_op(c.op).row.purity;
    EXPECT_TRUE(purity == ops::Purity::random || purity == ops::Purity::mutates)
        << c.op;
  }
}

// The greatest distance between the distribution function of the numbers and
// `expected`, times the root of their count.
template <typename Cdf>
double kolmogorov_smirnov(std::vector<float> numbers, const Cdf& expected) {
  std::sort(numbers.begin(), numbers.end());
  const auto n = static_cast<double>(numbers.size());
  double most = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const double at = expected(static_cast<double>(numbers[i]));
    most = std::max({most, std::abs(at - static_cast<double>(i) / n),
                     std::abs(static_cast<double>(i + 1) / n - at)});
  }
  return most * std::sqrt(n);
}

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments(const std::vector<float>& numbers) {
  Moments m;
  for (float x : numbers) m.mean += x;
  m.mean /= static_cast<double>(numbers.size());
  for (float x : numbers) m.variance += (x - m.mean) * (x - m.mean);
  m.variance /= static_cast<double>(numbers.size());
  return m;
}

// One in a million samples is further away.
constexpr double kMostDistance = 2.7;
constexpr int64_t kMany = 20000;

std::vector<float> filled(const char* name, ValueList args) {
  return method(Tensor::zeros({kMany}), name, std::move(args))
      .as_tensor()
      .to_floats();
}

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

TEST(Distribution, OfUniformNumbers) {
  manual_seed(11);
  const std::vector<float> numbers = filled("uniform_", {-2, 3});
  EXPECT_LT(kolmogorov_smirnov(numbers, [](double x) { return (x + 2) / 5; }),
            kMostDistance);
  for (float x : numbers) {
    EXPECT_GE(x, -2);
    EXPECT_LT(x, 3);
  }
}

TEST(Distribution, OfNormalNumbers) {
  manual_seed(12);
  const std::vector<float> numbers = filled("normal_", {1, 2});
  const auto cdf = [](double x) { return normal_cdf((x - 1) / 2); };
  EXPECT_LT(kolmogorov_smirnov(numbers, cdf), kMostDistance);
  const Moments m = moments(numbers);
  EXPECT_NEAR(m.mean, 1, 0.07);
  EXPECT_NEAR(m.variance, 4, 0.2);
  // Made one by one where a tensor is small.
  std::vector<float> small;
  while (small.size() < static_cast<size_t>(kMany))
    for (float x : randn({5}).as_tensor().to_floats()) small.push_back(x);
  EXPECT_LT(kolmogorov_smirnov(small, normal_cdf), kMostDistance);
}

TEST(Distribution, OfOtherContinuousNumbers) {
  manual_seed(13);
  EXPECT_LT(kolmogorov_smirnov(filled("exponential_", {2}),
                               [](double x) { return -std::expm1(-2 * x); }),
            kMostDistance);
  EXPECT_LT(kolmogorov_smirnov(
                filled("cauchy_", {1, 3}),
                [](double x) { return 0.5 + std::atan((x - 1) / 3) / M_PI; }),
            kMostDistance);
  EXPECT_LT(
      kolmogorov_smirnov(filled("log_normal_", {0, 1}),
                         [](double x) { return normal_cdf(std::log(x)); }),
      kMostDistance);
}

// Deviations of the counts from the expected ones, as a sum of squares.
double chi_squared(const std::vector<int64_t>& drawn,
                   const std::vector<double>& weights) {
  std::vector<double> counts(weights.size());
  for (int64_t x : drawn) ++counts.at(static_cast<size_t>(x));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double result = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    const double expected =
        weights[i] / sum * static_cast<double>(drawn.size());
    result += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return result;
}

TEST(Distribution, OfIntegers) {
  manual_seed(14);
  const std::vector<int64_t> numbers =
      randint(3, 13, {kMany}).as_tensor().to_ints();
  std::vector<int64_t> from_zero;
  for (int64_t x : numbers) from_zero.push_back(x - 3);
  EXPECT_LT(chi_squared(from_zero, std::vector<double>(10, 1)), 45);
  const std::vector<float> wide =
      (randint(0, int64_t{1} << 40, {kMany}).as_tensor().to(DType::f64))
          .to_floats();
  EXPECT_LT(kolmogorov_smirnov(wide, [](double x) { return x * 0x1p-40; }),
            kMostDistance);
}

TEST(Distribution, OfChances) {
  manual_seed(15);
  EXPECT_NEAR(moments(filled("bernoulli_", {0.3})).mean, 0.3, 0.016);
  const std::vector<float> waited = filled("geometric_", {0.25});
  EXPECT_NEAR(moments(waited).mean, 4, 0.12);
  EXPECT_EQ(*std::min_element(waited.begin(), waited.end()), 1);
  const Value dropped =
      nn::functional::dropout(Tensor::full({kMany}, 2), 0.4, true);
  EXPECT_NEAR(moments(dropped.as_tensor().to_floats()).mean, 2, 0.06);
}

TEST(Distribution, OfWeightedSamples) {
  manual_seed(16);
  const std::vector<float> weights = {1, 0, 3, 6};
  const Tensor w = Tensor::from(weights, {4});
  std::vector<int64_t> again =
      multinomial(w, kMany, true).as_tensor().to_ints();
  std::vector<int64_t> once;
  const Tensor rows = Tensor::empty({kMany, 4});
  rows.copy_from(w);
  for (int64_t x : multinomial(rows, 1).as_tensor().to_ints())
    once.push_back(x);
  for (const std::vector<int64_t>* drawn : {&again, &once}) {
    std::vector<int64_t> places;
    for (int64_t x : *drawn) {
      ASSERT_NE(x, 1) << "a weight of 0 was drawn";
      places.push_back(x == 0 ? 0 : x - 1);
    }
    EXPECT_LT(chi_squared(places, {1, 3, 6}), 28);
  }
}

TEST(Distribution, OfPermutations) {
  manual_seed(17);
  std::vector<int64_t> orders;
  for (int i = 0; i < 6000; ++i) {
    const std::vector<int64_t> p = randperm(3).as_tensor().to_ints();
    orders.push_back(p[0] * 2 + (p[1] > p[2]));
  }
  EXPECT_LT(chi_squared(orders, std::vector<double>(6, 1)), 36);
}

TEST(Generators, OfOneSeedGiveTheSameNumbers) {
  const Value a = Value::opaque(new Generator(5));
  const Value b = Value::opaque(new Generator(6));
  dynamic_cast<Generator&>(*b.as_opaque()).manual_seed(5);
  manual_seed(5);
  const std::vector<float> expected = randn({20}).as_tensor().to_floats();
  for (const Value& generator : {a, b}) {
    const Value drawn = function("torch.randn", {Value::tuple({20})},
                                 {{"generator", generator}});
    EXPECT_EQ(drawn.as_tensor().to_floats(), expected);
  }
  // Drawing from them left the default one alone.
  const std::vector<float> next = randn({20}).as_tensor().to_floats();
  manual_seed(5);
  randn({20});
  EXPECT_EQ(randn({20}).as_tensor().to_floats(), next);
  EXPECT_THROW(
      function("torch.rand", {Value::tuple({2})}, {{"generator", "a"}}),
      TypeError);
}

TEST(Generators, OfOtherSeedsGiveOthers) {
  manual_seed(1);
  const std::vector<float> one = rand({8}).as_tensor().to_floats();
  manual_seed(2);
  EXPECT_NE(rand({8}).as_tensor().to_floats(), one);
  EXPECT_EQ(default_generator().initial_seed(), 2u);
  const uint64_t seed = default_generator().seed();
  EXPECT_EQ(default_generator().initial_seed(), seed);
}

// Calls of other threads come between calls, never between the numbers of one:
// together they are the numbers that one thread draws.
TEST(Generators, ThreadsShareTheDefaultOne) {
  constexpr int kThreads = 4, kCalls = 50;
  constexpr int64_t kEach = 100;
  manual_seed(3);
  std::set<std::vector<float>> expected;
  for (int i = 0; i < kThreads * kCalls; ++i)
    expected.insert(rand({kEach}).as_tensor().to_floats());
  manual_seed(3);
  std::vector<std::vector<std::vector<float>>> got(kThreads);
  std::vector<std::thread> threads;
  for (auto& mine : got)
    threads.emplace_back([&mine] {
      for (int i = 0; i < kCalls; ++i)
        mine.push_back(rand({kEach}).as_tensor().to_floats());
    });
  for (std::thread& thread : threads) thread.join();
  std::set<std::vector<float>> drawn;
  for (const auto& mine : got) drawn.insert(mine.begin(), mine.end());
  EXPECT_EQ(drawn, expected);
}

// What lies otherwise in memory is filled in row-major order as well, in
// which compiled programs fill it.
TEST(Generators, FillByPositionWhateverTheStrides) {
  manual_seed(4);
  const std::vector<float> expected = rand({4, 5}).as_tensor().to_floats();
  const Tensor memory = Tensor::zeros({20});
  const Tensor turned = memory.as_strided({4, 5}, {1, 4}, 0);
  manual_seed(4);
  method(turned, "uniform_");
  EXPECT_EQ(turned.to_floats(), expected);
  manual_seed(4);
  EXPECT_EQ(rand_like(turned).as_tensor().to_floats(), expected);
}

}  // namespace TEST_FILE
}  // namespace fxjit
