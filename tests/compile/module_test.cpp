// Compiled modules as their users see them: bad input, what stays with the
// interpreter, whose memory results are, edits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::AllOf;
using testing::batch;
using ::testing::ElementsAre;
using testing::expect_right;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::model;
using ::testing::Not;
using testing::options_for;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;
using testing::WarningLog;

// --- Bad input. ---

std::string error_of(fx::GraphModule& gm, const ValueList& inputs) {
  try {
    gm.forward(inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(BadInput, ErrorsSayWhatWasExpectedAndWhere) {
  const auto gm = model();
  compile(*gm, quick());
  WarningLog log;
  EXPECT_THAT(error_of(*gm, {random_tensor({5, 7})}),
              AllOf(HasSubstr("5x7 and 6x8"), HasSubstr("%linear"),
                    HasSubstr("compile_testing.cpp")));
  EXPECT_THAT(error_of(*gm, {random_tensor({})}),
              AllOf(HasSubstr("%linear"), HasSubstr("compile_testing.cpp")));
  EXPECT_THAT(error_of(*gm, {random_tensor({5, 6}, DType::i64)}),
              AllOf(HasSubstr("%linear"), HasSubstr("compile_testing.cpp")));
  EXPECT_NE(error_of(*gm, {Value("text")}), "");
  EXPECT_NE(error_of(*gm, {Value()}), "");
  EXPECT_THAT(error_of(*gm, {}), HasSubstr("missing 1 required"));
  // And the module is as good as before.
  expect_right(*gm, batch(5));
}

TEST(BadInput, PrepareSaysNo) {
  const auto gm = model();
  compile(*gm, quick());
  WarningLog log;
  EXPECT_FALSE(prepare(*gm, ValueList{random_tensor({5, 7})}));
  EXPECT_EQ(log.count("5x7"), 1);
  EXPECT_EQ(log.count("compile_testing.cpp"), 1);
}

TEST(BadInput, IndicesOutsideTheirTable) {
  const auto gm = fx::symbolic_trace(
      [table = random_tensor({8, 6})](Value ids) {
        return F::embedding(ids, table) * 2;
      },
      {"ids"}, "f");
  compile(*gm, quick());
  const std::vector<int64_t> good{0, 7, 3}, bad{0, 8, 3}, negative{0, -1, 3};
  EXPECT_THROW(gm->forward({Tensor::from(bad, {3})}), IndexError);
  expect_right(*gm, {Tensor::from(good, {3})});
  EXPECT_THROW(gm->forward({Tensor::from(negative, {3})}), IndexError);
  expect_right(*gm, {Tensor::from(good, {3})});
}

TEST(BadInput, TensorsWithoutData) {
  const auto gm = model();
  compile(*gm, quick());
  expect_right(*gm, batch(5));
  const Value result = gm->forward({Tensor::meta({5, 6}, DType::f32)});
  EXPECT_TRUE(result.as_tensor().is_meta());
  EXPECT_EQ(result.as_tensor().describe(), "float32[5, 8]");
}

TEST(BadInput, Options) {
  const auto gm = model();
  CompileOptions options = quick();
  options.threads = -1;
  EXPECT_THROW(compile(*gm, options), UserError);
  options = quick();
  options.disabled_passes = {"no_such_pass"};
  EXPECT_THROW(compile(*gm, options), UserError);
  EXPECT_THROW(prepare(*gm, batch(2)), UserError);
  EXPECT_THROW(profile(*gm, batch(2)), UserError);
}

// --- What stays with the interpreter. ---

Value reversed(const Value& x) {
  std::vector<float> values = x.as_tensor().to_floats();
  std::reverse(values.begin(), values.end());
  return Tensor::from(values, x.as_tensor().sizes());
}

TEST(Interpreted, FunctionsOutsideTheTable) {
  static const fx::Wrapped reverse =
      fx::wrap("reverse", [](Value x) { return reversed(x); });
  const auto gm = fx::symbolic_trace(
      [](Value x) { return relu(reverse(x)) + 1; }, {"x"}, "f");
  compile(*gm, quick());
  WarningLog log;
  const ValueList inputs{random_tensor({3, 4})};
  for (int i = 0; i < 3; ++i) {
    const Value got = gm->forward(inputs);
    const Value expected = relu(reversed(inputs[0])) + 1;
    EXPECT_EQ(value_difference(got, expected, 0, 0), "");
  }
  gm->forward({random_tensor({2, 2})});
  EXPECT_THAT(log.messages(), ElementsAre(HasSubstr("reverse")));
  EXPECT_THAT(report(*gm),
              HasSubstr("0 interpreter (not native)  reverse  <- %reverse: "));
  EXPECT_THAT(report(*gm), HasSubstr("0 generated  relu+add  <- %relu %add"));
  EXPECT_TRUE(prepare(*gm, inputs));
}

TEST(Interpreted, PartsAreReported) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value whole = method(x * 2, "to", {DType::i64});
        return relu(method(matmul(whole, whole), "to", {DType::f32})) + 1;
      },
      {"x"}, "f");
  compile(*gm, quick());
  expect_right(*gm, {random_tensor({3, 3})});
  EXPECT_THAT(report(*gm), HasSubstr("eager matmul (not native)"));
}

// --- Results. ---

TEST(Results, HeldByTheCallerAreNotOverwritten) {
  const auto gm = model();
  compile(*gm, quick());
  std::vector<std::pair<ValueList, Value>> held;
  for (uint32_t i = 0; i < 40; ++i) {
    held.emplace_back(batch(3, i), Value());
    held.back().second = gm->forward(held.back().first);
    if (i % 3 == 0) held.erase(held.begin());  // Its memory is used again.
  }
  for (const auto& [inputs, got] : held)
    EXPECT_EQ(value_difference(got, gm->interpret(inputs), 1e-5, 1e-6), "");
}

TEST(Results, OutliveTheModule) {
  const ValueList inputs = batch(3);
  Value got, expected;
  {
    const auto gm = model();
    compile(*gm, quick());
    got = gm->forward(inputs);
    expected = gm->interpret(inputs);
  }
  EXPECT_EQ(value_difference(got, expected, 1e-5, 1e-6), "");
}

TEST(Results, MayBeTheInputs) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        return Value::tuple({x, transpose(x, 0, 1), getitem(x, 1), x + 1});
      },
      {"x"}, "f");
  compile(*gm, quick());
  const Tensor whole = random_tensor({5, 4});
  const Tensor x = whole.as_strided({3, 4}, {4, 1}, 4);
  const Value got = gm->forward({x});
  EXPECT_TRUE(got.at(0).as_tensor().is(x));
  EXPECT_EQ(got.at(1).as_tensor().data(), x.data());
  EXPECT_EQ(got.at(2).as_tensor().data(), x.data_as<float>() + 4);
  expect_right(*gm, {x});
}

TEST(Results, MayBeParametersAndConstants) {
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      w = register_parameter("w", random_tensor({4}));
    }
    Value forward(Value x) {
      return Value::tuple({Value(w), Value(w) * 2, zeros({2}), x + w});
    }
    nn::Parameter w;
  };
  const auto net = Net::create();
  const auto gm = fx::symbolic_trace(net);
  compile(*gm, quick());
  const ValueList inputs{random_tensor({3, 4})};
  const Value got = gm->forward(inputs);
  EXPECT_EQ(got.at(0).as_tensor().data(), net->w.tensor().data());
  // What the caller writes into the others is not seen by the next call.
  got.at(1).as_tensor().copy_from(Tensor::full({4}, 9));
  got.at(2).as_tensor().copy_from(Tensor::full({2}, 9));
  expect_right(*gm, inputs);
}

TEST(Results, OfAnyStructure) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        return Value::dict(
            {{Value("sum"), sum(x)},
             {Value("pair"), Value::tuple({x * 2, Value::list({relu(x), 7})})},
             {Value("rows"), getitem(method(x, "size"), 0)},
             {Value("none"), None},
             {Value("text"), "as is"},
             {Value("twice"), x * 2}});
      },
      {"x"}, "f");
  compile(*gm, quick());
  expect_right(*gm, {random_tensor({3, 4})});
  EXPECT_THAT(report(*gm), Not(HasSubstr("interpreter")));
}

TEST(Results, OfNothingAtAll) {
  const auto gm =
      fx::symbolic_trace([](Value) { return Value(5); }, {"x"}, "f");
  compile(*gm, quick());
  EXPECT_TRUE(same(gm->forward({random_tensor({2})}), 5));
  const auto empty = fx::symbolic_trace(
      [](Value x) { return softmax(x, -1) + 1; }, {"x"}, "f");
  compile(*empty, quick());
  expect_right(*empty, {Tensor::empty({0, 4})});
  expect_right(*empty, {Tensor::empty({4, 0})});
}

// As the machine converts them, also where LLVM knows the value beforehand.
TEST(Results, OfCastsOutsideTheirType) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value wide = method(x, "to", {DType::f64});
        return Value::tuple(
            {method(mean(x), "to", {DType::i64}),
             method(mean(wide), "to", {DType::i32}),
             method(wide * 0 + 2147483647.0, "to", {DType::i32}),
             method(wide * 3e9, "to", {DType::i32}),
             method(x * 1e30, "to", {DType::i64})});
      },
      {"x"}, "f");
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, options_for(level));
    for (const Dims& sizes : {Dims{0, 1}, Dims{3, 5}}) {
      expect_right(*gm, {random_tensor(sizes)});
      expect_right(*gm, {Tensor::full(sizes, NAN)});
    }
  }
  const Value last = gm->forward({Tensor::full({1}, 1.0)}).at(2);
  EXPECT_EQ(last.as_tensor().item(), 2147483647.0);
}

// --- The module. ---

TEST(Module, GraphAndCodeStayAsTheyAre) {
  const auto gm = model();
  const std::string graph = gm->graph().str(), code = gm->code(),
                    text = gm->str();
  compile(*gm, quick());
  expect_right(*gm, batch(3));
  EXPECT_EQ(gm->graph().str(), graph);
  EXPECT_EQ(gm->code(), code);
  EXPECT_EQ(gm->str(), text);
}

TEST(Module, RecompileDropsNativeCode) {
  const auto gm = model();
  compile(*gm, quick());
  expect_right(*gm, batch(3));
  const Value before = gm->forward(batch(3));
  const fx::NodePtr gelu = gm->graph().find_node("gelu");
  gelu->replace_all_uses_with(gelu->arg_node(0));
  gm->graph().erase_node(gelu);
  EXPECT_EQ(value_difference(gm->forward(batch(3)), before, 0, 0), "");
  gm->recompile();
  EXPECT_EQ(gm->native_forward(), nullptr);
  EXPECT_EQ(report(*gm), "");
  EXPECT_NE(value_difference(gm->forward(batch(3)), before, 1e-5, 1e-6), "");
  compile(*gm, quick());
  expect_right(*gm, batch(3));
}

TEST(Module, KeywordsDefaultsAndContainers) {
  const auto gm = fx::symbolic_trace([](Value x, Value s) { return x * s; },
                                     {"x", {"s", 3}}, "f");
  compile(*gm, quick());
  const Tensor x = random_tensor({4});
  EXPECT_EQ(value_difference(gm->forward({x}), Value(x) * 3, 1e-6, 0), "");
  EXPECT_EQ(value_difference(gm->forward({}, {{"s", 2.5}, {"x", x}}),
                             Value(x) * 2.5, 1e-6, 0),
            "");
  const auto pair = fx::symbolic_trace(
      [](Value p) { return getitem(p, 0) - getitem(p, "b"); }, {"p"}, "f");
  compile(*pair, quick());
  const ValueList inputs{
      Value::dict({{Value(0), random_tensor({4}, DType::f32, 1)},
                   {Value("b"), random_tensor({4}, DType::f32, 2)}})};
  expect_right(*pair, inputs);
  EXPECT_THAT(report(*pair), Not(HasSubstr("interpreter")));
}

TEST(Module, InsideAnotherModule) {
  const auto inner = model();
  compile(*inner, quick());
  expect_right(*inner, batch(3));
  class Outer : public nn::Custom<Outer> {
   public:
    explicit Outer(nn::Ref<fx::GraphModule> gm) : Custom("Outer", {"x"}) {
      inner = register_module("inner", std::move(gm));
    }
    Value forward(Value x) { return (*inner)(x * 2) + 1; }
    nn::Ref<fx::GraphModule> inner;
  };
  // Traced through, not called as one.
  const auto outer = fx::symbolic_trace(Outer::create(inner));
  compile(*outer, quick());
  expect_right(*outer, batch(3));
}

TEST(Module, ProfileNamesStepsAndNodes) {
  const auto gm = model();
  compile(*gm, quick());
  const Profile seen = profile(*gm, batch(3), 2);
  ASSERT_THAT(seen.steps, Not(IsEmpty()));
  for (const StepProfile& step : seen.steps) {
    EXPECT_TRUE(step.native) << step.label;
    EXPECT_EQ(step.calls, 1) << step.label;
    for (const std::string& node : step.nodes)
      EXPECT_NE(gm->graph().find_node(node), nullptr) << node;
  }
  EXPECT_FALSE(seen.from_disk_cache);
  EXPECT_GT(seen.packed_bytes, 0u);
  // Rows 3 x 6 by a weight 6 x 8, two operations each, what is done to the
  // sums, and the bytes of both.
  EXPECT_GE(seen.steps[0].flops, 2 * 3 * 6 * 8);
  EXPECT_GE(seen.steps[0].bytes, 4 * (3 * 6 + 6 * 8));
  const std::string text = profile_text(seen);
  for (const StepProfile& step : seen.steps)
    EXPECT_THAT(text, HasSubstr(step.label + "  <- %" + step.nodes.back()));
  EXPECT_THAT(text, HasSubstr(std::to_string(seen.steps.size()) + " steps"));
  EXPECT_THAT(text, HasSubstr("kFLOP       kB GFLOP/s"));
  Profile large;
  large.steps.emplace_back().flops = 4e6;
  EXPECT_THAT(profile_text(large),
              AllOf(HasSubstr("MFLOP"), HasSubstr(" 4.000 ")));
}

}  // namespace TEST_FILE
}  // namespace fxjit
