// Branches and loops in compiled modules: what is decided when compiling,
// limits, errors in the middle, and what reports say. Their numbers are held to
// torch's in tests/mirror/control_flow_runs_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/report.h"
#include "src/compile/compiled_module.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;

Value pair(const Value& a, const Value& b) { return Value::tuple({a, b}); }
Value count(int64_t value) { return Tensor::full({}, value, DType::i64); }
Value sum(const Value& x) { return method(x, "sum"); }

// x = x / 2 + 1, `n` times.
nn::Ref<fx::GraphModule> counted() {
  return fx::symbolic_trace(
      [](Value n, Value x) {
        return while_loop([n](Value i, Value) { return i < n; },
                          [](Value i, Value x) {
                            const Value next = i + 1;
                            return pair(next, x * 0.5 + 1);
                          },
                          {count(0), x});
      },
      {"n", "x"});
}

CompileOptions at_most(int64_t iterations) {
  CompileOptions options;
  options.loop_limit = iterations;
  return options;
}

float first(const Value& x) { return x.as_tensor().data_as<float>()[0]; }

TEST(CompiledControlFlow, BranchesOnShapesAreDecidedWhenCompiling) {
  const auto traced = fx::symbolic_trace(
      [](Value x) {
        const Value large = method(x, "size", {0}) > 2;
        return cond(
            large, [](Value x) { return x + 1; }, [](Value x) { return x * 2; },
            {x});
      },
      {"x"});
  compile(*traced);
  EXPECT_EQ(first(traced->call({Tensor::full({3}, 5)})), 6);
  EXPECT_EQ(first(traced->call({Tensor::full({2}, 5)})), 10);
  const std::string text = report(*traced);  // Guards name this file.
  EXPECT_THAT(text.substr(0, text.find("\nsizes:")), Not(HasSubstr("control")));
  EXPECT_TRUE(make_report(*traced).native());
}

TEST(CompiledControlFlow, WeightsOfBodiesArePacked) {
  const auto linear = nn::Linear::create(64, 64);
  auto model =
      nn::lambda("Model", {"n", "x"},
                 [linear](Value n, Value x) {
                   return while_loop([n](Value i, Value) { return i < n; },
                                     [linear](Value i, Value x) {
                                       const Value next = i + 1;
                                       return pair(next, relu(linear(x)));
                                     },
                                     {count(0), x});
                 },
                 {{"linear", linear}});
  const auto gm = fx::symbolic_trace(model);
  const Value inputs[] = {count(3), Tensor::full({2, 64}, 0.5)};
  const Value expected = gm->call({inputs[0], inputs[1]});
  compile(*gm);
  const Value got = gm->call({inputs[0], inputs[1]});
  for (int i = 0; i < 128; ++i)
    EXPECT_NEAR(got.at(1).as_tensor().data_as<float>()[i],
                expected.at(1).as_tensor().data_as<float>()[i], 1e-5);
  EXPECT_GT(profile(*gm, inputs, 2).packed_bytes, 0u);
}

// The most threads that the bodies of a loop use where two are given.
int threads_of_body(int64_t width) {
  const Tensor weight = Tensor::full({width, width}, 0.01f);
  const auto gm = fx::symbolic_trace(
      [weight](Value n, Value x) {
        return while_loop([n](Value i, Value) { return i < n; },
                          [weight](Value i, Value x) {
                            const Value next = i + 1;
                            return pair(next, relu(matmul(x, weight)));
                          },
                          {count(0), x});
      },
      {"n", "x"});
  CompileOptions options;
  options.threads = 2;
  compile(*gm, options);
  const ValueList inputs{count(3), Tensor::full({64, width}, 1)};
  gm->call(inputs);
  const auto shape = compiled_module(*gm)->get(inputs);
  int most = 0;
  for (size_t i = 0; i < shape->executable().program().steps.size(); ++i)
    if (const auto* const external = shape->executable().external(i))
      for (const auto& body : external->bodies())
        most = std::max(most, body.program->max_threads());
  return most;
}

TEST(CompiledControlFlow, ShortBodiesRunOnOneThread) {
  EXPECT_EQ(threads_of_body(16), 1);
  EXPECT_EQ(threads_of_body(512), 2);
}

// Programs are dropped by what they take, bodies included.
TEST(CompiledControlFlow, MemoryOfBodiesCounts) {
  const Tensor up = Tensor::full({64, 4096}, 0.01f);
  const Tensor down = Tensor::full({4096, 64}, 0.01f);
  const auto gm = fx::symbolic_trace(
      [=](Value p, Value x) {
        return cond(
            p, [=](Value x) { return matmul(relu(matmul(x, up)), down); },
            [](Value x) { return x * 2; }, {x});
      },
      {"p", "x"});
  compile(*gm);
  gm->call({Tensor::full({}, 1, DType::boolean), Tensor::full({256, 64}, 1)});
  EXPECT_TRUE(make_report(*gm).native()) << report(*gm);
  const size_t between = sizeof(float) * 256 * 4096;  // The two products.
  EXPECT_GT(compiled_size(*gm).bytes, between);
}

// Whoever runs them: a program, or the interpreter for what has none.
TEST(CompiledControlFlow, LimitsHoldForWholeGraphsThatAreInterpreted) {
  const auto gm = fx::symbolic_trace(
      [](Value n, Value x) {
        return while_loop([n](Value i, Value) { return i < n; },
                          [](Value i, Value x) {
                            const Value next = i + 1;
                            // Sizes by data: nothing is compiled.
                            return pair(next,
                                        x + method(nonzero(x), "size", {0}));
                          },
                          {count(0), x});
      },
      {"n", "x"});
  CompileOptions options = at_most(10);
  options.new_shape = CompileOptions::NewShape::behind;
  compile(*gm, options);
  EXPECT_EQ(first(gm->call({count(10), Tensor::full({1}, 1)}).at(1)), 11);
  for (int call = 0; call < 3; ++call)
    EXPECT_THROW(gm->call({count(1 << 30), Tensor::full({1}, 1)}),
                 RuntimeError);
}

// With and without limits, the interpreter runs the user's module itself.
TEST(CompiledControlFlow, InterpretedCallsSeeNewMembers) {
  CompileOptions interruptible;
  interruptible.interrupted = [] { return false; };
  for (CompileOptions options :
       {CompileOptions(), at_most(10), std::move(interruptible)}) {
    nn::Module root("Root");
    root.register_buffer("shift", Tensor::full({1}, 1));
    auto graph = std::make_unique<fx::Graph>();
    const fx::NodePtr x = graph->placeholder("x");
    graph->output(
        graph->call_function("operator.add", {x, graph->get_attr("shift")}));
    const auto gm = fx::GraphModule::create(root, std::move(graph), "Root");
    // The first call is answered by the interpreter.
    options.new_shape = CompileOptions::NewShape::behind;
    compile(*gm, options);
    gm->register_buffer("shift", Tensor::full({1}, 5));
    EXPECT_EQ(first(gm->call({Tensor::full({1}, 2)})), 7);
  }
}

TEST(CompiledControlFlow, InputsOfAnotherNumberAreRefused) {
  CompileOptions interruptible;
  interruptible.interrupted = [] { return false; };
  for (const CompileOptions& options :
       {CompileOptions(), at_most(10), std::move(interruptible)}) {
    const auto gm = counted();
    compile(*gm, options);
    const Value x = Tensor::full({2}, 1);
    for (const ValueList& inputs :
         {ValueList{}, ValueList{count(1)}, ValueList{count(1), x, x}})
      for (int call = 0; call < 2; ++call) {
        try {
          gm->invoke_bound(inputs);
          FAIL();
        } catch (const RuntimeError& error) {
          EXPECT_EQ(error.message(), "[interpret] inputs: expected 2, got " +
                                         std::to_string(inputs.size()));
        }
        EXPECT_FALSE(prepare(*gm, inputs));
        EXPECT_THROW(profile(*gm, inputs, 1), UserError);
      }
    EXPECT_EQ(first(gm->invoke_bound({count(1), x}).at(1)), 1.5f);
  }
}

TEST(CompiledControlFlow, LoopsEndAtTheLimit) {
  const auto gm = counted();
  compile(*gm, at_most(10));
  EXPECT_EQ(gm->call({count(10), Tensor::full({2}, 1)}).size(), 2u);
  try {
    gm->call({count(1'000'000'000'000), Tensor::full({2}, 1)});
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.message(), HasSubstr("expected at most 10, got more"));
  }
  // Another call is not hurt.
  EXPECT_EQ(gm->call({count(-5), Tensor::full({2}, 1)}).size(), 2u);
}

TEST(CompiledControlFlow, LoopsCanBeInterrupted) {
  const auto gm = counted();
  int asked = 0;
  CompileOptions options;
  options.interrupted = [&asked] { return ++asked > 1000; };
  compile(*gm, options);
  EXPECT_THROW(gm->call({count(1'000'000'000'000), Tensor::full({2}, 1)}),
               RuntimeError);
  EXPECT_EQ(asked, 1001);
}

TEST(CompiledControlFlow, ErrorsInTheMiddleNameNodeAndLine) {
  const auto gm = fx::symbolic_trace(
      [](Value i, Value table) {
        return while_loop([](Value i, Value) { return i < 9; },
                          [table](Value i, Value total) {
                            const Value next = i + 1;
                            return pair(next,
                                        total + index_select(table, 0, i));
                          },
                          {i, Tensor::full({1}, 0)});
      },
      {"i", "table"});
  compile(*gm);
  const Value table = Tensor::full({5}, 2);
  const Value start = Tensor::full({}, 3, DType::i64);
  for (int round = 0; round < 2; ++round) {
    try {
      gm->call({start, table});
      FAIL();
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("index out of range"));
      EXPECT_NE(error.context().source.line, 0);
    }
  }
  // What was given is as it was.
  EXPECT_EQ(start.as_tensor().data_as<int64_t>()[0], 3);
  EXPECT_EQ(first(table), 2);
}

TEST(CompiledControlFlow, ReportsTellStepsOfBodies) {
  const auto gm = counted();
  compile(*gm);
  const Value inputs[] = {count(7), Tensor::full({3}, 1)};
  const Report measured = measure_report(*gm, inputs, 3);
  ASSERT_EQ(measured.programs.size(), 1u);
  double share = 0;
  int bodies = 0;
  for (const StepReport& step : measured.programs[0].steps) {
    if (step.body.empty()) share += step.share;
    if (step.body == "body") {
      EXPECT_EQ(step.calls, 7);
      ++bodies;
    }
    if (step.body == "condition") EXPECT_EQ(step.calls, 8);
  }
  EXPECT_NEAR(share, 1, 1e-6);
  EXPECT_GT(bodies, 0);
  EXPECT_TRUE(measured.native());
  EXPECT_THAT(measured.text(), HasSubstr("body: generated"));
  EXPECT_THAT(profile_text(profile(*gm, inputs, 2)), HasSubstr("body x 7"));
}

TEST(CompiledControlFlow, WhatCannotBeCompiledStaysWithTheInterpreter) {
  static int called = 0;
  static const fx::Wrapped noted =
      fx::wrap("control_flow_test.noted", [](Value x) -> Value {
        ++called;
        return x;
      });
  called = 0;
  const auto gm = fx::symbolic_trace(
      [](Value n, Value x) {
        return while_loop([n](Value i, Value) { return i < n; },
                          [](Value i, Value x) {
                            const Value next = i + 1;
                            return pair(next, noted(x) * 2);
                          },
                          {count(0), x});
      },
      {"n", "x"});
  compile(*gm, at_most(20));
  EXPECT_EQ(first(gm->call({count(3), Tensor::full({2}, 1)}).at(1)), 8);
  EXPECT_EQ(called, 3);
  EXPECT_THROW(gm->call({count(30), Tensor::full({2}, 1)}), RuntimeError);
  EXPECT_EQ(called, 23);
}

TEST(CompiledControlFlow, ModulesCalledWholeMayHaveBranches) {
  const auto inner = fx::symbolic_trace(
      [](Value x) {
        return cond(
            sum(x) > 0, [](Value x) { return x + 1; },
            [](Value x) { return x * 2; }, {x});
      },
      {"x"});
  auto graph = std::make_unique<fx::Graph>();
  const fx::NodePtr x = graph->placeholder("x");
  graph->output(graph->call_module("inner", {x}));
  nn::Module root("Root");
  root.register_module("inner", inner);
  const auto gm = fx::GraphModule::create(root, std::move(graph), "Root");
  compile(*gm);
  EXPECT_EQ(first(gm->call({Tensor::full({2}, 3)})), 4);
  EXPECT_EQ(first(gm->call({Tensor::full({2}, -3)})), -6);
  EXPECT_TRUE(make_report(*gm).native()) << report(*gm);
}

}  // namespace TEST_FILE
}  // namespace fxjit
