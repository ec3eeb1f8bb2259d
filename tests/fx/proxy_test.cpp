// Wrapped functions, nested graph modules, and proxies of existing nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fx/wrap.h"
#include "fxjit/nn/custom.h"

namespace fxjit::fx {
namespace TEST_FILE {

template <typename F>
nn::Ref<GraphModule> trace1(F function) {
  return symbolic_trace(function, {"x"}, "f");
}

TEST(Wrap, RecordsCallsOnProxiesAndRunsOthers) {
  int calls = 0;
  const Wrapped triple = wrap("trace_test_triple", [&](Value v) -> Value {
    ++calls;
    return v * 3;
  });
  const auto gm = trace1([&](Value x) -> Value {
    return triple(x) + triple(Tensor::full({2}, 2)) +
           triple.call({Value::list({x})});
  });
  EXPECT_EQ(calls, 1);
  const auto calls_to =
      gm->graph().find_nodes(Opcode::call_function, triple.function());
  ASSERT_EQ(calls_to.size(), 2u);
  EXPECT_TRUE(bool(calls_to[0]->meta().at("is_wrapped")));
  // Traced again, the calls stay.
  const auto again = symbolic_trace(gm);
  EXPECT_EQ(again->graph()
                .find_nodes(Opcode::call_function, triple.function())
                .size(),
            2u);
}

TEST(Trace, NestedGraphModulesAreInlined) {
  const auto inner =
      trace1([](Value x) -> Value { return -relu(x + 3.141592653589793); });
  const auto outer = [&] {
    class Outer : public nn::Custom<Outer> {
     public:
      explicit Outer(nn::ModuleRef m) : Custom("Outer", {"x"}) {
        inner = register_module("inner", m);
      }
      Value forward(Value x) { return inner(x) * 2; }
      nn::ModuleRef inner;
    };
    return Outer::create(inner);
  }();
  const auto gm = symbolic_trace(outer);
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, x):\n"
            "    add = x + 3.141592653589793;  x = None\n"
            "    relu = torch.relu(add);  add = None\n"
            "    neg = -relu;  relu = None\n"
            "    mul = neg * 2;  neg = None\n"
            "    return mul\n    ");
}

TEST(Asserts, AreRecordedAndKept) {
  const auto gm = trace1([](Value x) -> Value {
    torch_assert(getattr(x, "ndim") == 1, "assert_foobar");
    return x + 1;
  });
  gm->graph().eliminate_dead_code();
  gm->recompile();
  EXPECT_EQ(gm(Tensor::zeros({2})).as_tensor().at({0}), 1);
  try {
    gm(Tensor::zeros({2, 2}));
    FAIL() << "expected an error";
  } catch (const AssertionError& error) {
    EXPECT_EQ(error.message(), "assert_foobar");
    EXPECT_EQ(error.context().node, "_assert");
  }
  EXPECT_THROW(torch_assert(false, "text"), AssertionError);
}

TEST(Asserts, StatementsAreRecordedOnRequest) {
  const TracedFunction function = {"f", {"x"}, [](std::vector<Value> a) {
                                     check(a[0] > 0);
                                     return a[0];
                                   }};
  Tracer refusing;
  EXPECT_THROW(refusing.trace(function), TraceError);
  Tracer recording;
  recording.trace_asserts = true;
  EXPECT_THAT(recording.trace(function)->str(),
              ::testing::HasSubstr("torch.fx.proxy.assert_fn](args = (%gt,)"));
  check(true);
  EXPECT_THROW(check(false), AssertionError);
}

TEST(Proxies, EditAGraph) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const Value sum = proxy(x) + proxy(y);
  graph.output(node_of(relu(sum) * 2));
  const auto gm =
      GraphModule::create(nn::Module(), [&] { return graph.copy(); }());
  EXPECT_EQ(gm(Tensor::full({1}, 3), Tensor::full({1}, 4)).as_tensor().item(),
            14);
}

TEST(Proxies, OfTwoTracersDoNotMeet) {
  Graph first, second;
  const Value a = proxy(first.placeholder("a"));
  const Value b = proxy(second.placeholder("b"));
  EXPECT_THROW(a + b, RuntimeError);
}

TEST(Proxy, OutlivingItsTraceIsAnError) {
  Value kept, attribute;
  {
    const auto gm = symbolic_trace(
        [&](Value x) {
          kept = x + 1;
          attribute = getattr(x, "T");
          return kept;
        },
        {"x"}, "f");
    EXPECT_THROW(relu(kept), RuntimeError);
  }
  EXPECT_THROW(relu(kept), RuntimeError);
  EXPECT_THROW(kept + 1, RuntimeError);
  EXPECT_THROW(method(kept, "size"), RuntimeError);
  EXPECT_THROW(node_of(kept), RuntimeError);
  EXPECT_THROW(relu(attribute), RuntimeError);
  EXPECT_THROW(static_cast<void>(static_cast<bool>(kept)), RuntimeError);
  EXPECT_THROW(symbolic_trace([&](Value x) { return x + kept; }, {"x"}, "g"),
               RuntimeError);
  EXPECT_EQ(kept.as_proxy()->describe(), "Proxy of a trace that has ended");
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
