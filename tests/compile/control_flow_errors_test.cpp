// Branches and loops that do not fit together, and loops that fail on their
// way: the same errors by the interpreter and by compiled modules, with torch's
// texts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using Body = fx::Body;

Value pair(const Value& a, const Value& b) { return Value::tuple({a, b}); }
Value one(const Value& a) { return Value::tuple({a}); }
Value flag(bool value) { return Tensor::full({}, value, DType::boolean); }
Value number(int64_t value) { return Tensor::full({}, value, DType::i64); }
Value grown(const Value& x) { return cat(Value::list({x, x})); }
Value as_double(const Value& x) { return method(x, "double"); }

struct Failure {
  std::string message, node;
  bool has_line = false;
};

// What the module throws, the same by both ways and again in a second call.
Failure failure(fx::GraphModule& module, const ValueList& inputs) {
  std::optional<Failure> first;
  for (const bool compiled : {false, true}) {
    if (compiled) compile(module);
    for (int call = 0; call < 2; ++call) {
      try {
        module.call(inputs);
        ADD_FAILURE() << (compiled ? "compiled" : "interpreted");
        return {};
      } catch (const Error& error) {
        Failure now{error.message(), error.context().node,
                    error.context().source.known()};
        if (!first) first = now;
        EXPECT_EQ(now.message, first->message);
        EXPECT_EQ(now.node, first->node);
        EXPECT_TRUE(now.has_line);
      }
    }
  }
  return *first;
}

// Of a cond between two branches on [2, 3], whichever of them is taken.
std::string of_branches(const Body& on_true, const Body& on_false) {
  std::string message;
  for (const bool taken : {true, false}) {
    const auto gm = fx::symbolic_trace(
        [&](Value p, Value x) { return cond(p, on_true, on_false, {x}); },
        {"p", "x"});
    const Failure failed =
        failure(*gm, {flag(taken), Tensor::full({2, 3}, 1)});
    EXPECT_EQ(failed.node, "cond");
    if (!message.empty()) EXPECT_EQ(failed.message, message);
    message = failed.message;
  }
  return message;
}

TEST(BadBranches, ResultsOfOtherTypesAndRanks) {
  const auto more = [](Value x) { return x + 1; };
  const std::string merging =
      "When merging two branches' output in torch.cond,  expected same ";
  EXPECT_EQ(of_branches(more, as_double),
            merging + "dtype but got torch.float32 and torch.float64.");
  EXPECT_EQ(of_branches(more, [](Value x) { return method(x, "sum", {0}); }),
            merging + "dim but got 2 and 1.");
  EXPECT_EQ(of_branches(more, [](Value) -> Value { return 3; }),
            merging + "type but got float32[2, 3] and 3.");
}

TEST(BadBranches, ResultsOfAnotherStructure) {
  const auto trace = [](const Body& on_true, const Body& on_false) {
    try {
      fx::symbolic_trace(
          [&](Value p, Value x) { return cond(p, on_true, on_false, {x}); },
          {"p", "x"});
    } catch (const RuntimeError& error) {
      EXPECT_TRUE(error.context().source.known());
      return error.message();
    }
    return std::string();
  };
  const auto more = [](Value x) { return x + 1; };
  EXPECT_THAT(trace(more, [](Value x) { return pair(x, x); }),
              HasSubstr("Unmatched output spec from torch.cond branches: true "
                        "branch tree_spec TreeSpec(tuple, None, [*])"));
  EXPECT_THAT(trace([](Value x) { return Value::dict({{"a", x + 1}}); },
                    [](Value x) { return Value::dict({{"b", x + 1}}); }),
              HasSubstr("differing branch outputs"));
}

// Sizes may differ: the one that is taken says which they are.
TEST(BadBranches, ResultsOfOtherSizesAreNone) {
  const auto gm = fx::symbolic_trace(
      [](Value p, Value x) {
        return cond(
            p, [](Value x) { return x + 1; }, [](Value x) { return grown(x); },
            {x});
      },
      {"p", "x"});
  for (const bool compiled : {false, true}) {
    if (compiled) compile(*gm);
    for (const bool taken : {true, false})
      EXPECT_EQ(gm->call({flag(taken), Tensor::full({2}, 1)}).as_tensor().numel(),
                taken ? 2 : 4);
  }
}

// A branch is not run for its shapes where that would be seen.
TEST(BadBranches, FunctionsOfTheUserRunInTheTakenBranchAlone) {
  static int called = 0;
  static const fx::Wrapped noted =
      fx::wrap("control_flow_errors_test.noted", [](Value x) -> Value {
        ++called;
        return x;
      });
  called = 0;
  const auto gm = fx::symbolic_trace(
      [](Value p, Value x) {
        return cond(
            p, [](Value x) { return x + 1; },
            [](Value x) { return noted(x) * 2; }, {x});
      },
      {"p", "x"});
  gm->call({flag(true), Tensor::full({2}, 1)});
  EXPECT_EQ(called, 0);
  gm->call({flag(false), Tensor::full({2}, 1)});
  EXPECT_EQ(called, 1);
}

Failure of_while(const Body& goes_on, const Body& body, const Tensor& x) {
  const auto gm = fx::symbolic_trace(
      [&](Value x) { return while_loop(goes_on, body, {x}); }, {"x"});
  Failure failed = failure(*gm, {x});
  EXPECT_EQ(failed.node, "while_loop");
  return failed;
}

TEST(BadLoops, WhatIsCarriedBecomesAnother) {
  const auto small = [](Value x) { return method(x, "sum") < 10.0; };
  const std::string found =
      "Expected body_fn_output and carried_inputs to have same metadata but "
      "found:\npair[0] differ in ";
  const Tensor x = Tensor::full({2}, 1);
  EXPECT_EQ(of_while(small, [](Value x) { return one(grown(x)); }, x).message,
            found +
                "'shape: torch.Size([4]) vs torch.Size([2])', where lhs is "
                "float32[4] and rhs is float32[2]");
  EXPECT_EQ(
      of_while(small, [](Value x) { return one(as_double(x)); }, x).message,
      found +
          "'dtype: torch.float64 vs torch.float32', where lhs is float64[2] "
          "and rhs is float32[2]");
}

TEST(BadLoops, ConditionsAreOneTruth) {
  const auto next = [](Value x) { return one(x + 1); };
  const Tensor x = Tensor::full({2}, 1);
  EXPECT_THAT(of_while([](Value x) { return x < 10.0; }, next, x).message,
              HasSubstr("cond_fn must return a boolean scalar tensor or a "
                        "boolean but got"));
  EXPECT_THAT(
      of_while([](Value x) { return method(x, "sum"); }, next, x).message,
      HasSubstr("cond_fn must return a boolean scalar tensor or a boolean"));
}

TEST(BadLoops, ScansWhoseCarryBecomesAnother) {
  const auto gm = fx::symbolic_trace(
      [](Value c, Value x) {
        return scan([](Value c, Value x) { return pair(grown(c), x * 1); }, c,
                    x);
      },
      {"c", "x"});
  const Failure failed =
      failure(*gm, {Tensor::full({2}, 1), Tensor::full({3, 2}, 1)});
  EXPECT_EQ(failed.node, "scan");
  EXPECT_EQ(failed.message,
            "Expected init and carry to have same metadata but found:\npair[0] "
            "differ in 'shape: torch.Size([2]) vs torch.Size([4])', where lhs "
            "is float32[2] and rhs is float32[4]");
}

TEST(BadLoops, SlicesOfNothing) {
  const auto scanned = fx::symbolic_trace(
      [](Value c, Value x) {
        return scan([](Value c, Value x) { return pair(c + x, x * 1); }, c, x);
      },
      {"c", "x"});
  EXPECT_EQ(
      failure(*scanned, {Tensor::full({2}, 1), Tensor::full({0, 2}, 1)}).message,
      "All xs leaves must at least have 'dim' number of dimensions and scan "
      "dimension > 0");
  const auto mapped = fx::symbolic_trace(
      [](Value x) { return map([](Value x) { return x + 1; }, x); }, {"x"});
  EXPECT_EQ(failure(*mapped, {Tensor::full({0, 2}, 1)}).message,
            "Leading dimensions of mapped xs cannot be 0.");
}

TEST(BadLoops, SlicesOfOtherNumbers) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value y) {
        return map(
            [](Value xs) { return getitem(xs, 0) + getitem(xs, 1); },
            pair(x, y));
      },
      {"x", "y"});
  EXPECT_EQ(
      failure(*gm, {Tensor::full({3, 2}, 1), Tensor::full({4, 2}, 1)}).message,
      "Leaves of xs must have same leading dimension size [torch.Size([3, 2]), "
      "torch.Size([4, 2])]");
}

// Counts below zero are no iterations, as torch's `i < n`; a huge one is left
// at the limit.
TEST(BadLoops, CountsBelowZeroAndBeyondAllMeasure) {
  const auto gm = fx::symbolic_trace(
      [](Value n, Value x) {
        return while_loop([n](Value i, Value) { return i < n; },
                          [](Value i, Value x) {
                            const Value next = i + 1;
                            return pair(next, x + 1);
                          },
                          {number(0), x});
      },
      {"n", "x"});
  const Value x = Tensor::full({1}, 1);
  CompileOptions options;
  options.loop_limit = 1000;
  compile(*gm, options);
  for (const int64_t count : {int64_t{-1}, INT64_MIN, int64_t{0}})
    EXPECT_EQ(gm->call({number(count), x}).at(1).as_tensor().item(), 1);
  EXPECT_THROW(gm->call({number(int64_t{1} << 62), x}), RuntimeError);
  EXPECT_EQ(gm->call({number(1000), x}).at(1).as_tensor().item(), 1001);
}

// A body fails in its fifth iteration, behind a write to an input: that is made
// once, as torch makes it, and later calls work.
TEST(BadLoops, NothingIsLostWhenABodyFails) {
  const auto gm = fx::symbolic_trace(
      [](Value table, Value x) {
        const Value more = method(x, "add_", {1});
        const Value sums = while_loop(
            [](Value i, Value) { return method(i, "sum") < 9; },
            [table](Value i, Value total) {
              const Value next = i + 1;
              return pair(next, total + index_select(table, 0, i));
            },
            {Tensor::full({1}, 0, DType::i64), Tensor::full({1}, 0)});
        return getitem(sums, 1) + more;
      },
      {"table", "x"});
  const Tensor x = Tensor::full({1}, 1);
  EXPECT_THAT(failure(*gm, {Tensor::full({4}, 2), x}).message,
              HasSubstr("index out of range"));
  EXPECT_EQ(x.item(), 5);  // Of four calls.
  EXPECT_EQ(gm->call({Tensor::full({9}, 2), x}).as_tensor().item(), 24);
  EXPECT_EQ(x.item(), 6);
}

}  // namespace TEST_FILE
}  // namespace fxjit
