// Random calls in compiled modules: the numbers of the interpreter, in the
// order of the graph, however the calls are grouped, with dead ones, writes and
// parts between them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/functions_random.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/op.h"
#include "fxjit/random.h"
#include "tests/compile/compile_testing.h"
#include "tests/compile/op_cases.h"
#include "tests/ops/structured_reference.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;

using testing::CaseGraph;
using testing::graph_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::quick;
using testing::random_tensor;

constexpr uint64_t kSeed = 21;

// Two calls after one seed, by the interpreter or compiled, and the next
// number.
ValueList seeded(const std::function<Value()>& call) {
  manual_seed(kSeed);
  const Value first = call(), second = call();
  return {first, second, rand({1})};
}

void expect_same_numbers(fx::GraphModule& module, const ValueList& inputs) {
  const ValueList expected = seeded([&] { return module.interpret(inputs); });
  const ValueList got = seeded([&] { return module.forward(inputs); });
  EXPECT_EQ(
      testing::difference(Value::tuple(got), Value::tuple(expected), false),
      "");
}

void expect_same_numbers(const std::function<Value(Value)>& f,
                         const Value& input, const CompileOptions& options) {
  const auto gm = fx::symbolic_trace(f, {"x"}, "f");
  compile(*gm, options);
  expect_same_numbers(*gm, {input});
  EXPECT_THAT(report(*gm), Not(HasSubstr("interpreter (not native)")));
}

TEST(RandomOps, AllDrawTheInterpretersNumbers) {
  const CaseGraph graph = graph_of(testing::random_cases());
  compile(*graph.module, quick());
  expect_same_numbers(*graph.module, graph.inputs);
}

// Sums of what comes before and after a draw may be one loop; the draws stay
// where they are.
Value crossing_draws(Value x) {
  const Value a = x + 1;
  const Value first = bernoulli(sigmoid(a));
  const Value second = rand_like(x);
  const Value b = a + second;
  const Value third = randn_like(b);
  return Value::tuple({third * b, first, second - first});
}

TEST(RandomOps, KeepTheirOrder) {
  for (bool fuse : {true, false}) {
    CompileOptions options = quick();
    if (!fuse) options.disabled_passes = {"fuse"};
    expect_same_numbers(crossing_draws, random_tensor({5, 7}), options);
  }
}

TEST(RandomOps, AreDrawnEvenIfNobodyReadsThem) {
  expect_same_numbers(
      [](Value x) {
        rand_like(x);
        const Value kept = rand_like(x);
        rand_like(x);
        return kept + x;
      },
      random_tensor({4}), quick());
}

TEST(RandomOps, AreNeitherMergedNorFolded) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value size = method(x, "size", {0});
        return Value::tuple({rand_like(x), rand_like(x),
                             function("torch.randn", {size}),
                             function("torch.randn", {size})});
      },
      {"x"}, "f");
  compile(*gm, quick());
  const Tensor x = random_tensor({6});
  const Value once = gm->forward({x}), again = gm->forward({x});
  for (size_t i : {0u, 2u}) {
    EXPECT_NE(testing::value_difference(once.at(i), once.at(i + 1), 0, 0), "");
    EXPECT_NE(testing::value_difference(once.at(i), again.at(i), 0, 0), "");
  }
  expect_same_numbers(*gm, {x});
}

TEST(RandomOps, DropoutIsFusedAndDraws) {
  const auto work = [](Value x) {
    const Value y = F::dropout(relu(x), 0.3, true);
    return F::dropout(y * 2 + x, 0.5, true) + F::dropout(x, 0.5, false);
  };
  expect_same_numbers(work, random_tensor({16, 33}), quick());
  CompileOptions two = quick();
  two.threads = 2;
  expect_same_numbers(work, random_tensor({64, 1024}), two);
}

TEST(RandomOps, WriteWhatIsTheirOwn) {
  expect_same_numbers(
      [](Value x) {
        const Value y = x * 2;
        method(y, "normal_", {1, 2});
        const Value z = y + 1;
        method(z, "exponential_");
        return y - z;
      },
      random_tensor({3, 20}), quick());
}

TEST(RandomOps, WriteInputsByTheInterpreter) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value before = rand_like(x);
        method(x, "uniform_");
        return before + x + rand_like(x);
      },
      {"x"}, "f");
  compile(*gm, quick());
  const Tensor x = random_tensor({9}), y = x.clone();
  manual_seed(kSeed);
  const Value expected = gm->interpret(ValueList{x});
  manual_seed(kSeed);
  const Value got = gm->forward({y});
  EXPECT_EQ(testing::value_difference(got, expected, 0, 0), "");
  EXPECT_EQ(testing::value_difference(Value(y), Value(x), 0, 0), "");
}

TEST(RandomOps, RefuseWhatTheInterpreterRefuses) {
  const auto gm = fx::symbolic_trace(
      [](Value x) { return multinomial(x * 1, 2) + 1; }, {"x"}, "f");
  compile(*gm, quick());
  expect_same_numbers(*gm, {Tensor::full({3, 8}, 0.5)});
  EXPECT_THROW(gm->forward({Tensor::full({3, 8}, -1)}), RuntimeError);
}

TEST(RandomOps, OfUsersAreOrderedAsWell) {
  static const fx::Wrapped count = fx::wrap(
      "random_ops.count",
      [](Value x) -> Value {
        static int64_t calls = 0;
        return x * 0 + ++calls;
      },
      ops::Purity::random);
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value first = count(x + 1), second = count(x);
        return Value::tuple({second, first + second});
      },
      {"x"}, "f");
  compile(*gm, quick());
  const Value result = gm->forward({Tensor::zeros({1})});
  EXPECT_EQ(result.at(0).as_tensor().item(), 2);
  EXPECT_EQ(result.at(1).as_tensor().item(), 3);
}

}  // namespace TEST_FILE
}  // namespace fxjit
