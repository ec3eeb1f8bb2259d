// Shapes over dims of unknown size, slices, the order of nodes.
#include "tests/onnx/regressions.h"

namespace fxjit::testing_onnx {
namespace {

Message squeezed(std::string_view output = "s") {
  return node("Squeeze", {"x", "axes"}, {std::string(output)});
}

Message axes(const std::vector<int64_t>& values) {
  return int_tensor("axes", values);
}

// x[?, 4], of one row, as [4]: later negative axes count from there.
std::vector<Regression> squeezes() {
  const std::vector<int64_t> open = {-1, 4};
  const RegressionCall wrong_size = {
      {counted({2, 4})}, {}, {}, "axis 0 has more or less than one element"};
  return {
      {"SqueezeThenArgMax",
       one_input_model(open,
                       {squeezed(), node("ArgMax", {"s"}, {"y"},
                                         {int_attribute("axis", -1),
                                          int_attribute("keepdims", 0)})},
                       {axes({0})}),
       {{{counted({1, 4})}, {3}, {}}, wrong_size}},
      {"SqueezeThenGather",
       one_input_model(open,
                       {squeezed(), node("Gather", {"s", "at"}, {"y"},
                                         {int_attribute("axis", -1)})},
                       {axes({0}), int_tensor("at", {2, 1})}),
       {{{counted({1, 4})}, {2, 1}, {2}}, wrong_size}},
      {"SqueezeThenShape",
       one_input_model(open, {squeezed(), node("Shape", {"s"}, {"y"})},
                       {axes({0})}),
       {{{counted({1, 4})}, {4}, {1}}, wrong_size}},
      {"SqueezeThenFlatten",
       one_input_model({-1, -1, 2},
                       {squeezed(), node("Flatten", {"s"}, {"y"},
                                         {int_attribute("axis", -1)})},
                       {axes({-3})}),
       {{{counted({1, 2, 2})}, {0, 1, 2, 3}, {2, 2}}}},
      {"SqueezeThenTranspose",
       one_input_model({-1, -1, -1},
                       {squeezed(), node("Transpose", {"s"}, {"y"})},
                       {axes({1})}),
       {{{counted({2, 1, 2})}, {0, 2, 1, 3}, {2, 2}}}},
      {"SqueezeOfTwo",
       one_input_model(
           {-1, 3, -1, 1},
           {squeezed(),
            node("Softmax", {"s"}, {"t"}, {int_attribute("axis", 0)}),
            node("ReduceSum", {"t"}, {"y"}, {int_attribute("keepdims", 0)})},
           {axes({2, 0})}),
       {{{Tensor::zeros({1, 3, 1, 1})}, {1}, {}},
        {{Tensor::zeros({1, 3, 2, 1})}, {}, {}, "axis 2 has more"}}},
      {"SqueezeOfAKnownDim",
       one_input_model({2, 4}, {squeezed("y")}, {axes({0})}),
       {},
       "axis 0 has more or less than one element"},
      // Without axes the rank follows from the sizes.
      {"SqueezeWithoutAxes",
       one_input_model({-1, 1, 2}, {node("Squeeze", {"x"}, {"y"})}),
       {{{counted({2, 1, 2})}, {0, 1, 2, 3}, {2, 2}},
        {{counted({1, 1, 2})}, {0, 1}, {2}}}},
      {"SqueezeWithoutAxesThenArgMax",
       one_input_model({-1, 1, 2}, {node("Squeeze", {"x"}, {"s"}),
                                    node("ArgMax", {"s"}, {"y"},
                                         {int_attribute("axis", 1),
                                          int_attribute("keepdims", 0)})}),
       {{{counted({2, 1, 2})}, {1, 1}, {2}},
        {{counted({1, 1, 2})}, {}, {}, "dim 0 has one element"}}},
  };
}

Message branch(const std::string& name, const Message& node) {
  return graph({{node}, {}, {value_info(name, kFloat, {-1})}, {}});
}

// Both branches have one dim, whatever the size of the one that goes.
std::vector<Regression> branches() {
  const Message choice = node(
      "If", {"c"}, {"r"},
      {graph_attribute("then_branch",
                       branch("a", node("Squeeze", {"x", "axes"}, {"a"}))),
       graph_attribute("else_branch",
                       branch("b", node("ReduceMean", {"x", "axes"}, {"b"},
                                        {int_attribute("keepdims", 0)})))});
  const Message whole = model(
      graph({{choice,
              node("ArgMax", {"r"}, {"y"},
                   {int_attribute("axis", -1), int_attribute("keepdims", 0)})},
             {value_info("x", kFloat, {-1, 4}), value_info("c", kBool, {})},
             {value_info("y", kInt64, {})},
             {axes({0})}}),
      18);
  return {{"IfOfSqueezeAndReduceMean",
           whole,
           {{{counted({1, 4}), flag(true)}, {3}, {}},
            {{counted({2, 4}), flag(false)}, {3}, {}}}}};
}

// What is computed of a shape, [2, 4] in the calls.
std::vector<Regression> arithmetic() {
  const auto reshaped = [](std::vector<Message> nodes,
                           std::vector<Message> initializers) {
    nodes.insert(nodes.begin(), node("Shape", {"x"}, {"s"}));
    nodes.push_back(node("Reshape", {"x", "t"}, {"y"}));
    return one_input_model({-1, -1}, std::move(nodes), std::move(initializers));
  };
  const RegressionCall two_by_four = {
      {counted({4, 2})}, {0, 1, 2, 3, 4, 5, 6, 7}, {2, 4}};
  return {
      // -4 and -2 over 3: -1 and -2 are left, and 2 and 1 by Python's rule.
      {"ModOfAShape",
       reshaped({node("Neg", {"s"}, {"n"}),
                 node("Mod", {"n", "three"}, {"m"}, {int_attribute("fmod", 1)}),
                 node("Add", {"m", "more"}, {"t"})},
                {int_tensor("three", {3}), int_tensor("more", {3, 6})}),
       {two_by_four}},
      {"FloorModOfAShape",
       reshaped({node("Neg", {"s"}, {"n"}), node("Mod", {"n", "three"}, {"m"}),
                 node("Mul", {"m", "more"}, {"t"})},
                {int_tensor("three", {3}), int_tensor("more", {1, 4})}),
       {two_by_four}},
      {"ScatterElementsIntoAShape",
       reshaped({node("ScatterElements", {"s", "at", "four"}, {"r"}),
                 node("ScatterElements", {"r", "front", "rest"}, {"t"})},
                {int_tensor("at", {-1}), int_tensor("four", {4}),
                 int_tensor("front", {0}), int_tensor("rest", {-1})}),
       {two_by_four}},
      {"UnsqueezeOfASize",
       one_input_model(
           {-1},
           {node("Size", {"x"}, {"n"}), node("Unsqueeze", {"n", "axes"}, {"u"}),
            node("Cast", {"u"}, {"y"}, {int_attribute("to", 1)})},
           {axes({0, 1})}),
       {{{counted({3})}, {3}, {1, 1}}}},
      {"SplitOfAnOpenDim",
       one_input_model({-1}, {node("Split", {"x"}, {"a", "b", "c"},
                                   {int_attribute("num_outputs", 3)}),
                              node("Concat", {"c", "a", "b"}, {"y"},
                                   {int_attribute("axis", 0)})}),
       {{{counted({7})}, {6, 0, 1, 2, 3, 4, 5}, {7}}}},
      {"RangeOfNothing",
       one_input_model(
           {-1},
           {node("Size", {"x"}, {"n"}),
            node("Range", {"two", "n", "one"}, {"r"}),
            node("Cast", {"r"}, {"y"}, {int_attribute("to", 1)})},
           {tensor("two", 7, {}, std::string("\2\0\0\0\0\0\0\0", 8)),
            tensor("one", 7, {}, std::string("\1\0\0\0\0\0\0\0", 8))}),
       {{{counted({4})}, {2, 3}, {2}}, {{counted({1})}, {}, {0}}}},
  };
}

// Bounds as inputs: starts, ends, steps of axis 0.
std::vector<Regression> slices() {
  const Message by_inputs = model(
      graph(
          {{node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"})},
           {value_info("x", kFloat, {-1}), value_info("starts", kInt64, {1}),
            value_info("ends", kInt64, {1}), value_info("steps", kInt64, {1})},
           {value_info("y", kFloat, {-1})},
           {axes({0})}}),
      13);
  const auto call = [](int64_t size, int64_t start, int64_t end, int64_t step,
                       std::vector<float> expected) {
    const auto one = [](int64_t number) {
      return Tensor::full({1}, number, DType::i64);
    };
    const Dims sizes = {static_cast<int64_t>(expected.size())};
    return RegressionCall{
        {counted({size}), one(start), one(end), one(step)}, expected, sizes};
  };
  const auto back = [](const char* name, int64_t start, int64_t end,
                       std::vector<RegressionCall> calls) {
    return Regression{
        name,
        one_input_model({-1}, {node("Slice", {"x", "s", "e", "a", "t"}, {"y"})},
                        {int_tensor("s", {start}), int_tensor("e", {end}),
                         int_tensor("a", {0}), int_tensor("t", {-1})}),
        std::move(calls)};
  };
  constexpr int64_t kFar = std::numeric_limits<int64_t>::min();
  return {
      {"SliceByInputs",
       by_inputs,
       {call(4, 3, 0, -1, {3, 2, 1}), call(4, 1, 2, -1, {}),
        call(4, 2, 2, -1, {}), call(4, -1, -9, -2, {3, 1}),
        call(4, 2, 1, 1, {}), call(4, 0, 9, 3, {0, 3}), call(0, 0, -9, -1, {}),
        call(0, -1, -9, -1, {}), call(0, 0, 9, 1, {})}},
      back("SliceBackFromBeyond", 4, kFar,
           {{{counted({3})}, {2, 1, 0}, {3}},
            {{counted({6})}, {4, 3, 2, 1, 0}, {5}},
            {{counted({0})}, {}, {0}}}),
      back("SliceBackToBeyond", -1, 4,
           {{{counted({3})}, {}, {0}}, {{counted({6})}, {5}, {1}}}),
      back("SliceBackFromBefore", -5, kFar,
           {{{counted({3})}, {0}, {1}}, {{counted({6})}, {1, 0}, {2}}}),
      {"SliceBackOfNothing",
       one_input_model({0, 2},
                       {node("Slice", {"x", "s", "e", "a", "t"}, {"y"})},
                       {int_tensor("s", {-1}), int_tensor("e", {kFar}),
                        int_tensor("a", {0}), int_tensor("t", {-1})}),
       {{{Tensor::zeros({0, 2})}, {}, {0, 2}}}},
  };
}

// Nodes in any order, in graphs and the branches in them.
std::vector<Regression> orders() {
  const Message reads_later = node(
      "If", {"c"}, {"y"},
      {graph_attribute("then_branch", branch("b", node("Neg", {"a"}, {"b"}))),
       graph_attribute("else_branch",
                       graph({{node("Add", {"e", "later"}, {"d"}),
                               node("Relu", {"x"}, {"e"})},
                              {},
                              {value_info("d", kFloat, {-1})},
                              {}}))});
  return {
      {"NodesInReverse",
       one_input_model(
           {2}, {node("Add", {"b", "a"}, {"y"}), node("Mul", {"a", "a"}, {"b"}),
                 node("Neg", {"x"}, {"a"})}),
       {{{counted({2})}, {0, 0}, {2}}}},
      {"BranchesReadNodesBehind",
       model(graph({{reads_later, node("Neg", {"x"}, {"later"}),
                     node("Exp", {"x"}, {"a"})},
                    {value_info("x", kFloat, {1}), value_info("c", kBool, {})},
                    {value_info("y", kFloat, {1})},
                    {}})),
       {{{Tensor::zeros({1}), flag(true)}, {-1}, {1}},
        {{Tensor::full({1}, 2), flag(false)}, {0}, {1}}}},
  };
}

// Errors of an equation come when the model is loaded, also over open dims.
std::vector<Regression> equations() {
  const auto refused = [](const char* name, const char* equation,
                          const char* words) {
    return Regression{
        name,
        one_input_model({-1, 3},
                        {node("Einsum", {"x", "w"}, {"y"},
                              {text_attribute("equation", equation)})},
                        {float_tensor("w", {2, 4}, std::vector<float>(8, 1))}),
        {},
        words};
  };
  return {
      refused("EquationOfOneOperand", "ij->ji", "1 operands for 2 inputs"),
      refused("EquationOfThreeDims", "ijk,kl->il", "\"ijk\" names 3 dims"),
      refused("EquationOfNoDim", "ij,kl->im", "\"m\", which no input has"),
      refused("EquationOfADimTwice", "ij,kl->ii", "two dims \"i\""),
      refused("EquationOfOtherSizes", "ij,jk->ik", "of 3 and 2 elements"),
      refused("EquationOfADigit", "i1,kl->ik", "is no list of letters"),
  };
}

}  // namespace

std::vector<Regression> shape_regressions() {
  std::vector<Regression> all;
  for (const auto& part :
       {squeezes(), branches(), arithmetic(), slices(), orders(), equations()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace fxjit::testing_onnx
