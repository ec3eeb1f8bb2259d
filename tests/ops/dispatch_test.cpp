#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/op.h"
#include "tests/ops/recorder.h"

namespace fxjit {
namespace TEST_FILE {

using testing::Recorder;

TEST(Dispatch, RunsWithoutProxies) {
  const Tensor x = Tensor::full({2}, 3);
  EXPECT_EQ((x + 1).as_tensor().at({0}), 4);
  EXPECT_EQ((1 - Value(x)).as_tensor().at({1}), -2);
  EXPECT_EQ(method(x, "mul", {2}).as_tensor().at({1}), 6);
}

TEST(Dispatch, FindsProxiesInsideContainers) {
  Recorder recorder;
  const Value x = recorder.proxy("x");
  function("torch.add", {1, Value::list({Value::tuple({x})})});
  function("torch.add", {1, Value::dict({{"k", x}})});
  function("torch.add", {1, Value::slice(None, x)});
  function("torch.add", {1, 2}, {{"alpha", x}});
  ASSERT_EQ(recorder.calls.size(), 4u);
  EXPECT_EQ(recorder.calls[0].text, "call_function torch.add (1, [(x,)]) {}");
  EXPECT_EQ(recorder.calls[3].text,
            "call_function torch.add (1, 2) {'alpha': x}");
}

TEST(Dispatch, RefusesTwoTracers) {
  Recorder a, b;
  const Value x = a.proxy("x"), y = b.proxy("y");
  try {
    add(x, y);
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.message().find("Found multiple different tracers"), 0u);
    EXPECT_NE(error.context().source.str().find("dispatch_test.cpp"),
              std::string::npos);
  }
  EXPECT_NO_THROW(add(x, a.proxy("z")));
}

TEST(Dispatch, PythonLevelFunctionsSpellOutKeywords) {
  Recorder recorder;
  const Value x = recorder.proxy("x");
  function("F.elu", {x});
  function("F.elu", {x}, {{"inplace", true}});
  EXPECT_EQ(recorder.calls[0].text,
            "call_function torch.nn.functional.elu (x,) {'alpha': 1.0, "
            "'inplace': False}");
  EXPECT_EQ(recorder.calls[1].text,
            "call_function torch.nn.functional.elu (x,) {'alpha': 1.0, "
            "'inplace': True}");
}

TEST(Dispatch, RecordsUnknownMethodsButDoesNotRunThem) {
  Recorder recorder;
  method(recorder.proxy("x"), "no_such", {1});
  EXPECT_EQ(recorder.calls[0].text, "call_method no_such (x, 1) {}");
  try {
    method(Tensor::zeros({1}), "no_such");
    FAIL();
  } catch (const AttributeError& error) {
    EXPECT_EQ(error.message(), "'Tensor' object has no attribute 'no_such'");
  }
  EXPECT_THROW(function("torch.no_such", {1}), UserError);
}

TEST(Dispatch, TruthOfAProxyAsksItsTracer) {
  Recorder recorder;
  const Value x = recorder.proxy("x");
  EXPECT_THROW(static_cast<void>(bool{x > 0}), TraceError);
}

TEST(Dispatch, MetaTensorsGiveMetaTensors) {
  const Tensor x = Tensor::meta({2, 3}, DType::f16);
  const Value y = x * 2.5 + Tensor::meta({3}, DType::f32);
  EXPECT_TRUE(y.as_tensor().is_meta());
  EXPECT_EQ(y.as_tensor().describe(), "float32[2, 3]");
}

TEST(Dispatch, ErrorsNameOpNodeAndLine) {
  try {
    static_cast<void>(Tensor::zeros({2}) + Tensor::zeros({3}));
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.message(),
              "The size of tensor a (2) must match the size of tensor b (3) at "
              "non-singleton dimension 0");
    EXPECT_EQ(error.context().op, "add");
    EXPECT_NE(error.context().source.str().find("dispatch_test.cpp"),
              std::string::npos);
  }
  const std::vector<Value> args{Tensor::zeros({2}), "text", 1};
  try {
    ops::run_eager({ops::get_op("lerp"), args, {}, "lerp_1"});
    FAIL();
  } catch (const TypeError& error) {
    EXPECT_EQ(error.context().node, "lerp_1");
  }
}

TEST(Dispatch, ErrorsInDecompositionsNameTheLineOfTheCall) {
  const Tensor rows = Tensor::zeros({3, 2});
  try {
    function("torch.ops.aten.embedding.default",
             {rows, Tensor::full({1}, 5).to(DType::i64)});
    FAIL();
  } catch (const IndexError& error) {
    EXPECT_NE(error.context().source.str().find("dispatch_test.cpp"),
              std::string::npos);
  }
}

TEST(Dispatch, InPlaceMethodsWriteTheirFirstArgument) {
  const Tensor x = Tensor::full({2, 2}, 3);
  const Value result = method(x, "add_", {Tensor::full({2}, 1)});
  EXPECT_TRUE(result.as_tensor().is(x));
  EXPECT_EQ(x.at({1, 1}), 4);
  const Value relu = nn::functional::relu(neg(x), true);
  EXPECT_EQ(relu.as_tensor().at({0, 0}), 0);
  EXPECT_THROW(method(Tensor::zeros({1}), "add_", {Tensor::zeros({2})}),
               RuntimeError);
  const Tensor ints = Tensor::zeros({2}, DType::i32);
  EXPECT_THROW(method(ints, "add_", {0.5}), RuntimeError);
  EXPECT_EQ(ops::get_op("add_").row.purity, ops::Purity::mutates);
}

TEST(Dispatch, DropoutDropsInTrainingOnly) {
  const Tensor x = Tensor::full({40}, 3);
  for (float kept : nn::functional::dropout(x).as_tensor().to_floats())
    EXPECT_TRUE(kept == 0 || kept == 6) << kept;
  EXPECT_EQ(nn::functional::dropout(x, 0.5, false).as_tensor().data(),
            x.data());
}

TEST(Dispatch, IntegerDivisionByZeroIsAnError) {
  const Tensor x = Tensor::full({2}, 3, DType::i32);
  EXPECT_THROW(function("torch.remainder", {x, 0}), RuntimeError);
  EXPECT_THROW(operators::floordiv(x, 0), RuntimeError);
  EXPECT_EQ(operators::floordiv(x, -1).as_tensor().at({0}), -3);
}

}  // namespace TEST_FILE
}  // namespace fxjit
