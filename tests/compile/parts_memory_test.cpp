// Graphs whose interpreted nodes write memory that native parts read, and
// results whose memory must be their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "fxjit/op.h"
#include "fxjit/report.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::quick;
using testing::random_tensor;
using testing::value_difference;
using testing::WarningLog;

const fx::Wrapped& add_seven() {
  static const fx::Wrapped wrapped = fx::wrap(
      "parts.add_seven",
      [](Value x) -> Value { return method(x, "add_", {7}); },
      ops::Purity::mutates);
  return wrapped;
}

// Calls several times, compiled and by an interpreter with tensors of its own.
void expect_same_states(const nn::Ref<fx::GraphModule>& gm,
                        const ValueList& inputs, int calls = 3,
                        bool native = false) {
  const auto known = gm->deep_copy();
  compile(*gm, quick());
  WarningLog log;
  for (int i = 0; i < calls; ++i) {
    ValueList given, others;
    for (const Value& input : inputs) {
      given.emplace_back(input.as_tensor().clone());
      others.emplace_back(input.as_tensor().clone());
    }
    const Value got = gm->forward(given), expected = known->interpret(others);
    EXPECT_EQ(value_difference(got, expected, 1e-5, 1e-5), "") << i;
    EXPECT_EQ(value_difference(Value(given), Value(others), 0, 0), "") << i;
    const auto buffers = gm->named_buffers(), wanted = known->named_buffers();
    for (size_t b = 0; b < buffers.size(); ++b)
      EXPECT_EQ(value_difference(buffers[b].second.value(),
                                 wanted[b].second.value(), 1e-5, 1e-5),
                "")
          << buffers[b].first << " " << i;
  }
  EXPECT_EQ(make_report(*gm).native(), native) << report(*gm);
  EXPECT_THAT(report(*gm), HasSubstr("generated"));
}

class Counting : public nn::Custom<Counting> {
 public:
  Counting() : Custom("Counting", {"x"}) {
    seen = register_buffer("seen", random_tensor({4, 4}));
    table = register_buffer("table", random_tensor({4, 4}, DType::f32, 3));
    linear = register_module("linear", nn::Linear::create(4, 4));
  }
  Value forward(Value x) {
    const Value before = linear(x) + Value(seen) * 2;  // Would be folded.
    method(Value(seen), "add_", {1});
    const Value row = getitem(Value(table), 1);
    method(row, "mul_", {0.5});
    const Value product = matmul(x, Value(table));  // Would be packed.
    return Value::tuple({before, product + Value(seen), row * 3});
  }
  nn::Buffer seen, table;
  nn::Ref<nn::Linear> linear;
};

TEST(PartsMemory, ReadBuffersAnewThatAreWritten) {
  fx::Tracer tracer;
  tracer.proxy_buffer_attributes = true;
  const auto module = Counting::create();
  auto graph = tracer.trace(*module);
  expect_same_states(fx::GraphModule::create(*tracer.root, std::move(graph)),
                     {random_tensor({4, 4})}, 3, true);
}

TEST(PartsMemory, RunningStatisticsOfTraining) {
  class Net : public nn::Custom<Net> {
   public:
    Net() : Custom("Net", {"x"}) {
      conv = register_module("conv", nn::Conv2d::create(2, 3, 3));
      norm = register_module("norm", nn::BatchNorm2d::create(3));
    }
    Value forward(Value x) {
      const Value y = relu(norm(conv(x * 2)));
      return Value::tuple({y, norm->get_buffer("running_mean").value() * 2});
    }
    nn::Ref<nn::Conv2d> conv;
    nn::Ref<nn::BatchNorm2d> norm;
  };
  expect_same_states(fx::symbolic_trace(Net::create()),
                     {random_tensor({2, 2, 5, 5})});
}

TEST(PartsMemory, EqualValuesStayApartForWriters) {
  expect_same_states(
      fx::symbolic_trace(
          [](Value x) {
            const Value a = relu(x), b = relu(x);
            const Value part = view(a, {12});
            add_seven()(a);
            return Value::tuple({a, b, part, a + b});
          },
          {"x"}, "f"),
      {random_tensor({3, 4})});
}

TEST(PartsMemory, ConstantsWrittenAreMadeAnew) {
  auto graph = std::make_unique<fx::Graph>();
  const fx::NodePtr x = graph->placeholder("x");
  const fx::NodePtr z =
      graph->call_function("torch.zeros", {Value::list({3, 4})});
  const fx::NodePtr head =
      graph->call_function("operator.getitem", {z, Value::slice(None, 2)});
  const fx::NodePtr sum = graph->call_function("operator.add", {x, z});
  graph->call_function(add_seven().function(), {z});
  const fx::NodePtr after = graph->call_function("operator.add", {z, x});
  graph->call_method("add_", {z, 1});
  graph->output(Value::tuple({sum, after, head, z}));
  expect_same_states(std::make_shared<fx::GraphModule>(nn::AttributeMap{},
                                                       std::move(graph)),
                     {random_tensor({3, 4})});
}

TEST(PartsMemory, ConstantsReadBeforeTheyAreWritten) {
  auto graph = std::make_unique<fx::Graph>();
  const fx::NodePtr x = graph->placeholder("x");
  const fx::NodePtr z =
      graph->call_function("torch.zeros", {Value::list({3, 4})});
  const fx::NodePtr sum = graph->call_function("operator.add", {x, z});
  graph->call_method("add_", {z, 1});
  const fx::NodePtr after = graph->call_function("operator.add", {z, x});
  graph->output(Value::tuple({sum, after, z}));
  const auto gm = std::make_shared<fx::GraphModule>(nn::AttributeMap{},
                                                    std::move(graph));
  compile(*gm, quick());
  for (int i = 0; i < 3; ++i) {
    testing::expect_right(*gm, {random_tensor({3, 4})});
    gm->forward({random_tensor({3, 4})})
        .at(2)
        .as_tensor()
        .copy_from(Tensor::full({3, 4}, 5));
  }
  EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
}

TEST(PartsMemory, ResultsOfEqualCallsStayApart) {
  const auto gm = fx::symbolic_trace(
      [](Value x) {
        const Value a = x * 2, b = x * 2;
        return Value::tuple({a, b, getitem(b, 0), a});
      },
      {"x"}, "f");
  compile(*gm, quick());
  const ValueList inputs{random_tensor({3, 4})};
  const Value got = gm->forward(inputs), expected = gm->interpret(inputs);
  for (const Value& result : {got, expected})
    method(result.at(1), "add_", {7});
  EXPECT_EQ(value_difference(got, expected, 1e-6, 0), "");
}

TEST(PartsMemory, InputsWritten) {
  expect_same_states(
      fx::symbolic_trace(
          [](Value x, Value y) {
            const Value t = transpose(x, 0, 1);
            const Value before = t * 2;
            method(getitem(x, 0), "add_", {1});
            fx::call_by_name("_operator.setitem", {x, Value::tuple({1, 2}), 9});
            return Value::tuple({before, t * 2 + y, x});
          },
          {"x", "y"}, "f"),
      {random_tensor({4, 4}), random_tensor({4, 4}, DType::f32, 2)}, 3, true);
}

}  // namespace TEST_FILE
}  // namespace fxjit
