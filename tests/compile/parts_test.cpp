// Graphs with calls that stay with the interpreter: native code around them,
// effects in order, results as the interpreter's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/op.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::expect_right;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;
using testing::WarningLog;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

// Writes down what it is called with, once per call.
std::vector<std::string>& notes() {
  static std::vector<std::string> made;
  return made;
}
const fx::Wrapped& noted() {
  static const fx::Wrapped wrapped = fx::wrap(
      "parts.noted",
      [](Value x, Value name) -> Value {
        notes().emplace_back(name.as_string());
        return x * 1.5;
      },
      ops::Purity::effect);
  return wrapped;
}
// Its result's shape depends on the numbers.
const fx::Wrapped& positive_rows() {
  static const fx::Wrapped wrapped =
      fx::wrap("parts.positive_rows", [](Value x) -> Value {
        ValueList rows;
        for (int64_t i = 0; i < x.as_tensor().size(0); ++i)
          if (x.as_tensor().at({i, 0}) > 0) rows.push_back(getitem(x, i));
        return stack(rows, 0);
      });
  return wrapped;
}
TEST(Parts, EffectsHappenInOrder) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value a = noted()(relu(x) + 1, "first");
        const Value b = noted()(tanh(a) * x, "second");
        noted()(a, "unused");
        return b - a;
      },
      {"x"}, "f");
  compile(*gm, quick());
  notes().clear();
  WarningLog log;
  expect_right(*gm, {random_tensor({3, 4})});
  EXPECT_THAT(notes(), ElementsAre("first", "second", "unused", "first",
                                   "second", "unused"));
  EXPECT_EQ(count(report(*gm), "interpreter (not native)  parts.noted"), 3);
  EXPECT_EQ(count(report(*gm), "generated"), 3);
  expect_right(*gm, {random_tensor({3, 4}, DType::f32, 2)});
  expect_right(*gm, {random_tensor({2})});
}

TEST(Parts, AreMadeForTheShapesThatComeOut) {
  const auto gm = fx::symbolic_trace(
      [](Value x) { return softmax(positive_rows()(x * 2), -1) + 1; }, {"x"},
      "f");
  compile(*gm, quick());
  WarningLog log;
  for (uint32_t seed = 1; seed < 8; ++seed)
    expect_right(*gm, {random_tensor({6, 5}, DType::f32, seed)});
  EXPECT_GT(count(report(*gm), "from %softmax on"), 1);
  EXPECT_EQ(log.count("positive_rows"), 1);
}

TEST(Parts, NumbersThatChangeAreNotCompiledForEver) {
  static const fx::Wrapped largest = fx::wrap(
      "parts.largest",
      [](Value x) -> Value { return x.as_tensor().at({0, 0}); });
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value number = largest(x);
        const Value y = relu(x) * number;
        return noted()(y, "n") + 1;
      },
      {"x"}, "f");
  compile(*gm, quick());
  WarningLog log;
  for (uint32_t seed = 1; seed < 30; ++seed)
    expect_right(*gm, {random_tensor({3, 4}, DType::f32, seed)});
  EXPECT_LE(count(report(*gm), "%mul"), 8);
  EXPECT_EQ(count(report(*gm), "<- %add"), 1);  // What follows stays native.
}

TEST(Parts, ErrorsNameTheirNode) {
  static const fx::Wrapped fails =
      fx::wrap("parts.fails", [](Value x) -> Value {
        if (x.as_tensor().at({0}) > 0) throw ValueError("too large");
        return x;
      });
  const auto gm = fx::symbolic_trace(
      [](Value x) { return relu(fails(x - 1)) * 2; }, {"x"}, "f");
  compile(*gm, quick());
  WarningLog log;
  expect_right(*gm, {Tensor::full({3}, 0)});
  try {
    gm->forward({Tensor::full({3}, 5)});
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_EQ(error.message(), "too large");
    EXPECT_EQ(error.context().node, "fails");
    EXPECT_THAT(error.what(), HasSubstr("parts_test.cpp"));
  }
  expect_right(*gm, {Tensor::full({3}, 1)});
}

TEST(Parts, AssertionsAreBetweenThem) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value y = relu(x);
        fx::torch_assert(sum(y) > 0, "nothing left");
        return y * 3 + x;
      },
      {"x"}, "f");
  compile(*gm, quick());
  WarningLog log;
  expect_right(*gm, {Tensor::full({3}, 2)});
  EXPECT_THROW(gm->forward({Tensor::full({3}, -2)}), AssertionError);
  EXPECT_EQ(count(report(*gm), "not native"), 1);
  EXPECT_EQ(count(report(*gm), "generated"), 3);
}

TEST(Parts, KnownAssertionsAndNumbersAreFolded) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value n) {
        fx::torch_assert(n > 2, "too small");
        return x * fx::math::sqrt(n);
      },
      {"x", "n"}, "f");
  compile(*gm, quick());
  expect_right(*gm, {Tensor::full({3}, 2), 16});
  EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
  WarningLog log;
  EXPECT_THROW(gm->forward({Tensor::full({3}, 2), 1}), AssertionError);
}

// --- Modules. ---

TEST(Parts, ModulesThatLookAtNumbers) {
  class Scale : public nn::Custom<Scale, nn::LeafModule> {
   public:
    Scale() : Custom("Scale", {"x"}) {}
    Value forward(Value x) {
      ++calls;
      return x.as_tensor().at({0}) > 0 ? x * 2 : x - 1;
    }
    int calls = 0;
  };
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      scale = register_module("scale", Scale::create());
    }
    Value forward(Value x) { return tanh(scale(relu(x) - 0.5)) * 2; }
    nn::Ref<Scale> scale;
  };
  const auto net = Net::create();
  const auto gm = fx::symbolic_trace(net);
  compile(*gm, quick());
  WarningLog log;
  expect_right(*gm, {Tensor::full({3}, 2)});
  const int before = net->scale->calls;
  expect_right(*gm, {Tensor::full({3}, -2)});
  EXPECT_EQ(net->scale->calls, before + 2);  // The user's own module.
  EXPECT_EQ(count(report(*gm), "not native"), 1);
  EXPECT_EQ(count(report(*gm), "generated"), 2);
}

TEST(Parts, InNestedGraphModules) {
  const auto inner = fx::symbolic_trace(
      [](Value x) { return noted()(relu(x), "inner") * 2; }, {"x"}, "g");
  auto graph = std::make_unique<fx::Graph>();
  const fx::NodePtr x = graph->placeholder("x");
  graph->output(graph->call_method(
      "neg", {graph->call_module("inner", {graph->call_method("exp", {x})})}));
  const auto gm = std::make_shared<fx::GraphModule>(
      nn::AttributeMap{{"inner", inner}}, std::move(graph));
  compile(*gm, quick());
  notes().clear();
  WarningLog log;
  expect_right(*gm, {random_tensor({3})});
  expect_right(*gm, {random_tensor({3})});
  EXPECT_EQ(notes().size(), 4u);
  EXPECT_EQ(count(report(*gm), "generated"), 2);
}

// --- Calling. ---

TEST(Parts, FromManyThreads) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value y = positive_rows()(x * 2 + 0.25);
        return softmax(y, -1) - relu(getitem(x, 0));
      },
      {"x"}, "f");
  compile(*gm, quick());
  WarningLog log;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < 20; ++i) {
        const ValueList inputs{
            random_tensor({4 + t % 3, 5}, DType::f32, i % 5 + 1)};
        if (!value_difference(gm->forward(inputs), gm->interpret(inputs), 1e-5,
                              1e-6)
                 .empty())
          ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Parts, CompiledBehind) {
  const auto gm = fx::symbolic_trace(
      [](Value x) { return softmax(positive_rows()(x * 2), -1) + 1; }, {"x"},
      "f");
  CompileOptions options = quick();
  options.new_shape = CompileOptions::NewShape::behind;
  compile(*gm, options);
  WarningLog log;
  const ValueList inputs{random_tensor({6, 5})};
  for (int i = 0; i < 2000 && report(*gm).find("softmax") == std::string::npos;
       ++i) {
    expect_right(*gm, inputs);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(report(*gm), HasSubstr("from %softmax on"));
  expect_right(*gm, inputs);
}

TEST(Parts, ManyCallsAreBounded) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        for (int i = 0; i < 300; ++i) x = noted()(x, "n") * 0.5;
        return x;
      },
      {"x"}, "f");
  compile(*gm, quick());
  WarningLog log;
  expect_right(*gm, {random_tensor({3})});
  EXPECT_THAT(report(*gm), HasSubstr("too many calls"));
}

TEST(Parts, AreProfiled) {
  const auto gm = fx::symbolic_trace(
      [](Value x) { return relu(noted()(exp(x), "n")) * 2; }, {"x"}, "f");
  compile(*gm, quick());
  WarningLog log;
  const Profile seen = profile(*gm, ValueList{random_tensor({3})}, 2);
  ASSERT_EQ(seen.steps.size(), 3u);
  EXPECT_TRUE(seen.steps[0].native);
  EXPECT_FALSE(seen.steps[1].native);
  EXPECT_EQ(seen.steps[1].label, "parts.noted");
  EXPECT_THAT(seen.steps[1].nodes, ElementsAre("noted"));
  EXPECT_TRUE(seen.steps[2].native);
}

}  // namespace TEST_FILE
}  // namespace fxjit
