// The generated code of every case against the graph that it was made from.
#include <generated_cases.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cpp_code/cases.h"

namespace fxjit {
namespace TEST_FILE {

using cpp_cases::ramp;
using ::testing::HasSubstr;

// Tensors by their numbers, all else by its text.
std::string described(const Value& value) {
  if (!value.is_tensor() && !value.is_sequence() && !value.is_dict())
    return repr(value);
  std::string text;
  visit_leaves(value, [&](const Value& leaf) {
    text += leaf.is_tensor() ? leaf.as_tensor().describe() : repr(leaf);
    if (leaf.is_tensor())
      for (float number : leaf.as_tensor().to_floats())
        text += " " + repr(Value(number));
    text += "\n";
  });
  return std::string(value.kind_name()) + "\n" + text;
}

ValueList cloned(const ValueList& inputs) {
  ValueList copies;
  for (const Value& input : inputs)
    copies.push_back(input.is_tensor() ? Value(input.as_tensor().clone())
                                       : input);
  return copies;
}

// Runs as the graph does, and traces to the same graph again.
template <typename T>
nn::Ref<T> check(const nn::Ref<fx::GraphModule>& gm, const ValueList& inputs,
                 const Kwargs& kwargs = {}, bool same_names = true) {
  const auto made = T::create(fx::cpp_code(*gm).weights);
  EXPECT_EQ(described(made->call(cloned(inputs), kwargs)),
            described(gm->call(cloned(inputs), kwargs)));
  EXPECT_EQ(made->training(), gm->training());
  if (same_names) {
    const auto traced = fx::symbolic_trace(made);
    EXPECT_EQ(traced->graph().str(), gm->graph().str());
    EXPECT_EQ(traced->code(), gm->code());
  }
  return made;
}

TEST(CppCode, Models) {
  const auto gm = cpp_cases::perceptron();
  const auto made = check<of_Perceptron::Perceptron>(gm, {ramp({3, 6})});
  EXPECT_EQ(made->state_dict().size(), gm->state_dict().size());
  EXPECT_FALSE(made->get_buffer("shift").slot()->persistent);
  check<of_Convolutions::Convolutions>(cpp_cases::convolutions(),
                                 {ramp({2, 2, 6, 6})});
}

TEST(CppCode, Layers) {
  check<of_Volumes::Volumes>(cpp_cases::volumes(), {ramp({2, 2, 3, 4, 4})});
  const auto stacks = cpp_cases::stacks();
  const auto made =
      check<of_Stacks::Stacks>(stacks, {ramp({2, 3, 4}), ramp({3, 3})});
  EXPECT_EQ(made->state_dict().size(), stacks->state_dict().size());
  const std::vector<int64_t> classes = {1, 3, 2};
  check<of_Losses::Losses>(
      cpp_cases::losses(),
      {ramp({3, 4}), Tensor::from(classes, {3}), Value(ramp({3, 4})) * -0.5 + 0.4});
}

TEST(CppCode, Operators) {
  check<of_Operators::Operators>(cpp_cases::operators(),
                              {ramp({3, 3}), Tensor::full({3, 3}, 0.25)});
}

TEST(CppCode, InPlaceCallsStay) {
  const auto gm = cpp_cases::in_place();
  check<of_InPlace::InPlace>(gm, {ramp({4})});
  EXPECT_THAT(fx::cpp_code(*gm).src,
              HasSubstr("Value iadd = function(\"_operator.iadd\", {x, 1.5});\n"
                        "    method(iadd, \"mul_\", {2});"));
}

TEST(CppCode, SignaturesAndLiterals) {
  const Tensor x = ramp({2});
  check<of_Signatures::Signatures>(cpp_cases::signatures(),
                               {x, 2.0, Tensor::full({2}, 7)}, {{"k", "v"}});
  EXPECT_THROW(
      of_Signatures::Signatures::create(nn::StateDict())->call({}, {}), TypeError);
  check<of_Literals::Literals>(cpp_cases::literals(), {x}, {}, false);
}

TEST(CppCode, SharedModulesAndNestedGraphs) {
  const auto gm = cpp_cases::shared();
  const auto made =
      check<of_Shared::Shared>(gm, {ramp({4, 4})}, {}, /*same_names=*/false);
  EXPECT_EQ(made->find_submodule("a"), made->find_submodule("again"));
  EXPECT_TRUE(made->get_parameter("w").tensor().is(
      made->get_parameter("b.weight").tensor()));
  EXPECT_FALSE(made->find_submodule("inner")->training());
  EXPECT_TRUE(made->training());
}

TEST(CppCode, WrappedFunctionsAndOddNames) {
  check<of_Wrapped::Wrapped>(cpp_cases::wrapped(), {ramp({3})});
  check<of_OddNames::OddNames>(cpp_cases::odd_names(),
                             ValueList(8, Value(ramp({1}))), {}, false);
}

TEST(CppCode, ContainersAsInputsAndResults) {
  const auto gm = cpp_cases::containers();
  const ValueList inputs{
      Value::dict({{"a", ramp({2})},
                   {"pair", Value::tuple({ramp({2}), Tensor::full({2}, 5)})}}),
      Value::list({Tensor::full({2}, 3)}), 4};
  const auto made = check<of_Containers::Containers>(gm, inputs, {}, false);
  EXPECT_EQ(described(made->call({}, {{"batch", inputs[0]},
                                      {"leaves", inputs[2]},
                                      {"template", inputs[1]}})),
            described(gm->call(inputs, {})));
  EXPECT_THROW(made->call({Value::dict({{"a", 1}}), inputs[1], 4}, {}),
               KeyError);
}

TEST(CppCode, FoldedConstants) {
  const auto made = check<of_Folded::Folded>(cpp_cases::folded(), {ramp({3})},
                                             {}, /*same_names=*/false);
  EXPECT_EQ(made->state_dict().size(), 0u);  // A list of tensors is no state.
}

TEST(CppCode, NumbersKeepTheirBits) {
  const auto gm = cpp_cases::odd_literals();
  const Value x = ramp({2});
  const Value got = check<of_OddLiterals::OddLiterals>(gm, {x}, {}, false)
                        ->call({x}, {});
  const Value expected = gm->call({x}, {});
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(got.at(i).kind(), expected.at(i).kind()) << i;
    if (expected.at(i).is_float())
      EXPECT_EQ(std::bit_cast<uint64_t>(got.at(i).as_double()),
                std::bit_cast<uint64_t>(expected.at(i).as_double()))
          << i;
  }
}

TEST(CppCode, FreeGraphs) {
  nn::Module self;
  self.register_module("lin", nn::Linear::create(2, 2));
  self.register_module("part", nn::make_module("Module"))
      ->register_parameter("w", ramp({2}));
  const Value x = ramp({1, 2});
  const fx::GraphModule gm(self, cpp_cases::free_graph());
  EXPECT_EQ(described(generated::free_graph(self, x)),
            described(gm.interpret(std::vector<Value>{x})));
}

TEST(CppCode, WhatHasNoText) {
  auto message = [](const fx::GraphModule& gm) -> std::string {
    try {
      fx::cpp_code(gm);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  auto graph = std::make_unique<fx::Graph>();
  graph->output(graph->call_function("torch.neg", {ramp({2})}));
  const fx::GraphModule gm(nn::Module(), std::move(graph));
  EXPECT_THAT(message(gm), HasSubstr("[cpp_code %neg] argument: expected a "
                                     "value with a C++ text"));
  struct Unknown : nn::LeafModule {
    Unknown() : LeafModule("Unknown", {"x"}) {}
  };
  nn::Module root;
  root.register_module("part", nn::Ref<Unknown>(std::make_shared<Unknown>()));
  auto call = std::make_unique<fx::Graph>();
  call->output(call->call_module("part", {call->placeholder("x")}));
  EXPECT_THAT(message(fx::GraphModule(root, std::move(call))),
              HasSubstr("[cpp_code] module part: expected a layer of"));
  EXPECT_THROW(fx::Weights({}).at("w"), KeyError);
  EXPECT_THROW(fx::Weights({}).make("Linear",
                                    {{"in_features", 1},
                                     {"out_features", 1},
                                     {"bias", false}},
                                    "lin"),
               KeyError);
}

}  // namespace TEST_FILE
}  // namespace fxjit
