// Functions as leaves of traces. Expected texts are torch 2.13's.
#include "fxjit/fx/wrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/nn.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::HasSubstr;

Value call_twice(Value x) { return relu(relu(x)); }

TEST(Autowrap, MathIsRecordedByDefault) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return math::sqrt(getattr(x, "shape").at(0)) * math::sqrt(4.0);
      },
      {"x"}, "f", {{"x", Tensor::zeros({9})}});
  EXPECT_THAT(gm->code(), HasSubstr("return 6.0"));
  const auto traced = symbolic_trace(
      [](Value x) -> Value {
        return math::floor(method(x, "size", {0})) + math::sqrt(16);
      },
      {"x"}, "f");
  EXPECT_EQ(traced->code(),
            "\n"
            "torch.fx._symbolic_trace.wrap(\"math_floor\")\n\n"
            "def forward(self, x):\n"
            "    size = x.size(0);  x = None\n"
            "    floor = math_floor(size);  size = None\n"
            "    add = floor + 4.0;  floor = None\n"
            "    return add\n    ");
  EXPECT_EQ(traced(Tensor::zeros({3})).as_double(), 7);
}

TEST(Autowrap, OtherFunctionsOnRequest) {
  const Wrapped twice = global_function("tests.twice", call_twice);
  const TracedFunction f{
      "f", {"x"}, [&](std::vector<Value> bound) { return twice(bound[0]); }};
  const auto count = [&](TracerOptions options) {
    Tracer tracer(std::move(options));
    return tracer.trace(f)->size();
  };
  EXPECT_EQ(count({}), 4u);
  EXPECT_EQ(count({.autowrap_functions = {"tests.twice"}}), 3u);
  EXPECT_EQ(count({.autowrap_modules = {"tests"}}), 3u);
  EXPECT_EQ(count({.autowrap_modules = {"test"}}), 4u);
}

TEST(Autowrap, WithoutModulesNothingIsRecorded) {
  Tracer tracer({.autowrap_modules = {}});
  EXPECT_THROW(
      tracer.trace(TracedFunction{
          "f", {"x"}, [](std::vector<Value> x) { return math::sqrt(x[0]); }}),
      TypeError);
}

TEST(Wrap, ByNameMakesLeaves) {
  const Wrapped scale = global_function(
      "tests.scale", [](Value x) -> Value { return x * 2 + 1; });
  const auto trace = [&] {
    return symbolic_trace([&](Value x) -> Value { return scale(x); }, {"x"},
                          "f");
  };
  EXPECT_EQ(trace()->graph().size(), 4u);
  wrap("tests.scale");
  const auto gm = trace();
  EXPECT_EQ(gm->graph().size(), 3u);
  EXPECT_EQ(symbolic_trace(gm)->code(), gm->code());
  EXPECT_EQ(Transformer(gm).transform()->graph().str(), gm->graph().str());
  EXPECT_THROW(wrap("tests.nothing"), KeyError);
}

TEST(Wrap, LenIsRefusedUnlessWrapped) {
  const TracedFunction f{
      "f", {"x"}, [](std::vector<Value> x) { return len(x[0]); }};
  Tracer plain;
  EXPECT_THROW(plain.trace(f), RuntimeError);
  Tracer tracer({.autowrap_functions = {"len"}});
  const auto graph = tracer.trace(f);
  EXPECT_THAT(graph->str(),
              HasSubstr("%len_1 : [num_users=1] = "
                        "call_function[target=builtins.len](args = (%x,)"));
  EXPECT_THAT(graph->python_code().src,
              HasSubstr("torch.fx._symbolic_trace.wrap(\"len\")"));
  EXPECT_EQ(len(Tensor::zeros({5, 2})).as_int(), 5);
}

TEST(Wrap, TwoTracersAreRefused) {
  const Wrapped pair =
      wrap("tests.pair", [](Value x, Value) -> Value { return x; });
  Graph one, two;
  const Value x = proxy(one.placeholder("x"));
  const Value y = proxy(two.placeholder("y"));
  EXPECT_THROW(pair(x, Value::list({y})), RuntimeError);
  EXPECT_EQ(one.size(), 1u);
}

TEST(Math, ChecksItsDomain) {
  EXPECT_EQ(math::ceil(1.2).as_int(), 2);
  EXPECT_EQ(math::sqrt(Tensor::full({1}, 4)).as_double(), 2);
  EXPECT_TRUE(math::isnan(math::pow(math::e, 0) * std::nan("")).as_bool());
  EXPECT_THROW(math::sqrt(-1), ValueError);
  EXPECT_THROW(math::log(0), ValueError);
  EXPECT_THROW(math::exp(1000), ValueError);
  EXPECT_THROW(math::sqrt("text"), TypeError);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
