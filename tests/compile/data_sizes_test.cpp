// Sizes that come from data: what stands behind nonzero, masks and item is one
// program for all of them, from the first call on, and no call is the
// interpreter's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fx/control_flow.h"
#include "src/compile/compiled_module.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;
using testing::WarningLog;

constexpr int64_t kRows = 40;

struct Case {
  const char* name;
  nn::Ref<fx::GraphModule> (*make)();
  int kinds;  // Of sizes, when calls have 0, 1 and many elements.
};

// Rows whose first number is positive, with attention among them.
nn::Ref<fx::GraphModule> picked() {
  const Tensor weight = random_tensor({8, 8}, DType::f32, 7);
  return fx::symbolic_trace(
      [=](Value x) {
        const Value at = nonzero(select(x * 2, 1, 0) > 0);
        const Value rows = index_select(x, 0, squeeze(at, 1));
        const Value hidden = F::gelu(F::linear(rows, weight));
        const Value scores = matmul(hidden, transpose(hidden, 0, 1));
        return Value::tuple({matmul(softmax(scores, -1), rows), sum(rows, 0)});
      },
      {"x"}, "picked");
}

// A mask, behind which another size comes from data.
nn::Ref<fx::GraphModule> masked() {
  return fx::symbolic_trace(
      [](Value x) {
        const Value rows = getitem(exp(x), select(x, 1, 0) > 0);
        const Value numbers = masked_select(rows, rows > 1.5);
        return Value::tuple({rows + 1, tanh(numbers) * 2, sum(numbers)});
      },
      {"x"}, "masked");
}

// A number of the data is a bound and a count.
nn::Ref<fx::GraphModule> counted() {
  return fx::symbolic_trace(
      [](Value x) {
        const Value positive = select(x, 1, 0) > 0;
        const Value count = item(sum(method(positive, "to", {DType::i64})));
        const Value first = narrow(x, 0, 0, count);
        const Value places = method(arange(count), "to", {DType::f32});
        return first * unsqueeze(places, 1) + softmax(first, -1);
      },
      {"x"}, "counted");
}

const Case kCases[] = {
    {"picked", picked, 2}, {"masked", masked, 3}, {"counted", counted, 2}};

// `count` rows of kRows have a positive first number.
ValueList rows(int64_t count) {
  const Tensor x = random_tensor({kRows, 8}, DType::f32, 3);
  auto* const data = x.data_as<float>();
  for (int64_t i = 0; i < kRows; ++i)
    data[i * 8] = (i * 7 % kRows < count ? 1.0F : -1.0F) *
                  (0.5F + static_cast<float>(i) / kRows);
  return {x};
}

bool same_bits(const Value& a, const Value& b) {
  std::vector<Tensor> left, right;
  visit_leaves(a, [&](const Value& leaf) { left.push_back(leaf.as_tensor()); });
  visit_leaves(b,
               [&](const Value& leaf) { right.push_back(leaf.as_tensor()); });
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    const Tensor x = left[i].contiguous(), y = right[i].contiguous();
    if (x.sizes() != y.sizes() || x.dtype() != y.dtype() ||
        std::memcmp(x.data(), y.data(),
                    static_cast<size_t>(x.numel()) * x.item_size()) != 0)
      return false;
  }
  return true;
}

class DataSizes : public ::testing::TestWithParam<Case> {};

TEST_P(DataSizes, AreRightInAllOrders) {
  const WarningLog log;
  std::vector<int64_t> counts{0, 1, 2, 17};
  std::map<int64_t, Value> alone;
  for (const int64_t count : counts) {
    const auto gm = GetParam().make();
    compile(*gm, quick());
    alone[count] = gm->forward(rows(count));
    EXPECT_EQ(
        value_difference(alone[count], gm->interpret(rows(count)), 1e-5, 1e-5),
        "")
        << count;
  }
  do {
    const auto gm = GetParam().make();
    compile(*gm, quick());
    for (const int64_t count : counts)
      EXPECT_TRUE(same_bits(gm->forward(rows(count)), alone[count])) << count;
  } while (std::next_permutation(counts.begin(), counts.end()));
}

TEST_P(DataSizes, OneKindServesAllFromTheFirstCallOn) {
  WarningLog log;
  const auto gm = GetParam().make();
  compile(*gm, quick());
  gm->forward(rows(9));
  const size_t first = compiled_module(*gm)->kinds();
  EXPECT_GE(first, 1U);
  for (int64_t count = 10; count < 30; ++count)
    EXPECT_EQ(value_difference(gm->forward(rows(count)),
                               gm->interpret(rows(count)), 1e-5, 1e-5),
              "")
        << count;
  EXPECT_EQ(compiled_module(*gm)->kinds(), first);
  // No part was left out.
  EXPECT_EQ(make_report(*gm).programs.size() % 21, 1U) << report(*gm);
  EXPECT_TRUE(make_report(*gm).native()) << report(*gm);
  EXPECT_EQ(log.count("interpreter"), 0);
}

TEST_P(DataSizes, DifferAmongThreads) {
  const WarningLog log;
  const auto gm = GetParam().make();
  compile(*gm, quick());
  std::vector<std::string> wrong(8);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < 20; ++i) {
        const auto count = static_cast<int64_t>(t * 5 + i * 3) % (kRows + 1);
        wrong[t] += value_difference(gm->forward(rows(count)),
                                     gm->interpret(rows(count)), 1e-5, 1e-5);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : wrong) EXPECT_EQ(text, "");
}

INSTANTIATE_TEST_SUITE_P(All, DataSizes, ::testing::ValuesIn(kCases),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

TEST(DataSizesOf, NodesBetweenPartsAreInTheReport) {
  const WarningLog log;
  const auto gm = picked();
  compile(*gm, quick());
  const Report report = measure_report(*gm, rows(5), 3);
  ASSERT_EQ(report.programs.size(), 2U);
  const StepReport& step = report.programs[0].steps.back();
  EXPECT_EQ(step.label, "torch.nonzero");
  EXPECT_EQ(step.by, ComputedBy::routine);
  EXPECT_EQ(step.reason, "");
  EXPECT_GT(step.microseconds, 0);
  const Profile seen = profile(*gm, rows(5), 3);
  EXPECT_TRUE(std::all_of(seen.steps.begin(), seen.steps.end(),
                          [](const StepProfile& row) { return row.native; }));
}

TEST(DataSizesOf, BodiesOfLoopsAreCompiled) {
  const auto gm = fx::symbolic_trace(
      [](Value n, Value x) {
        return while_loop(
            [n](Value i, Value) { return i < n; },
            [](Value i, Value x) {
              const Value rows = getitem(x, select(x, 1, 0) > 0);
              const Value next = i + 1;
              return Value::tuple({next, tanh(x - sum(rows, 0) * 0.1)});
            },
            {Tensor::full({}, 0, DType::i64), x});
      },
      {"n", "x"}, "loop");
  WarningLog log;
  compile(*gm, quick());
  for (const int64_t turns : {3, 0, 1, 12}) {
    const ValueList inputs{Tensor::full({}, turns, DType::i64),
                           random_tensor({kRows, 8})};
    const Value result = gm->forward(inputs);
    EXPECT_EQ(value_difference(result, gm->interpret(inputs), 1e-5, 1e-5), "");
  }
  EXPECT_TRUE(make_report(*gm).native()) << report(*gm);
  EXPECT_EQ(log.count("interpreter"), 0);
  // Steps of the body stand behind the loop's.
  EXPECT_TRUE(std::ranges::any_of(
      make_report(*gm).programs[0].steps,
      [](const StepReport& step) { return !step.body.empty(); }));
}

TEST(DataSizesOf, ErrorsBehindTheNodeAreItsUsers) {
  WarningLog log;
  const auto gm = fx::symbolic_trace(
      [](Value x, Value y) { return masked_select(x, x > 0) + y; }, {"x", "y"},
      "sum");
  compile(*gm, quick());
  const Tensor x = Tensor::from(std::vector<float>{1, -1, 2, 3, -2}, {5});
  for (const int64_t size : {3, 4, 3, 1})
    if (size == 4)
      EXPECT_THROW(gm->forward({x, Tensor::zeros({size})}), RuntimeError);
    else
      EXPECT_EQ(gm->forward({x, Tensor::zeros({size})}).as_tensor().numel(), 3);
}

}  // namespace TEST_FILE
}  // namespace fxjit
