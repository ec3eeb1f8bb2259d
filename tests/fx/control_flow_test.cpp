// Branches and loops of modules: what bodies take from around them, and what
// the tools do with the graphs.
#include <gtest/gtest.h>

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fx/passes.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/fx/archive_testing.h"

namespace fxjit {
namespace TEST_FILE {

using fx::GraphModule;
using fx::symbolic_trace;

Value pair(const Value& a, const Value& b) { return Value::tuple({a, b}); }

Tensor numbers(std::initializer_list<float> values) {
  Tensor made =
      Tensor::empty({static_cast<int64_t>(values.size())}, DType::f32);
  std::copy(values.begin(), values.end(), made.data_as<float>());
  return made;
}

std::vector<float> floats(const Value& value) {
  const Tensor t = value.as_tensor().contiguous();
  return {t.data_as<float>(), t.data_as<float>() + t.numel()};
}

// Reads a parameter, a buffer and a layer in its branches.
class Model : public nn::Custom<Model> {
 public:
  Model() : Custom("Model", {"x"}) {
    linear = register_module("linear", nn::Linear::create(2, 2));
    weight = register_parameter("weight", numbers({2, 3}));
    shift = register_buffer("shift", numbers({10, 20}));
  }
  Value forward(Value x) {
    return cond(
        method(x, "sum") > 0.0,
        [this](Value x) { return linear(x) * weight; },
        [this](Value x) { return x + shift - weight; }, {x});
  }
  nn::Ref<nn::Linear> linear;
  nn::Parameter weight;
  nn::Buffer shift;
};

TEST(Bodies, LiftsParametersAndTensorsAndSharesLayers) {
  const auto model = Model::create();
  const auto gm = symbolic_trace(model);
  EXPECT_EQ(gm->graph().str(),
            "graph():\n"
            "    %x : [num_users=2] = placeholder[target=x]\n"
            "    %sum_1 : [num_users=1] = call_method[target=sum](args = (%x,), "
            "kwargs = {})\n"
            "    %gt : [num_users=1] = call_function[target=operator.gt](args = "
            "(%sum_1, 0.0), kwargs = {})\n"
            "    %weight : [num_users=1] = get_attr[target=weight]\n"
            "    %shift : [num_users=1] = get_attr[target=shift]\n"
            "    %true_graph_0 : [num_users=1] = "
            "get_attr[target=true_graph_0]\n"
            "    %false_graph_0 : [num_users=1] = "
            "get_attr[target=false_graph_0]\n"
            "    %cond : [num_users=1] = "
            "call_function[target=torch.ops.higher_order.cond](args = (%gt, "
            "%true_graph_0, %false_graph_0, (%x, %weight, %shift)), kwargs = "
            "{})\n"
            "    %getitem : [num_users=1] = "
            "call_function[target=operator.getitem](args = (%cond, 0), kwargs = "
            "{})\n"
            "    return getitem");
  EXPECT_EQ(gm->find_submodule("true_graph_0.linear"), model->linear.get());
  // The user's module stays as it was.
  EXPECT_EQ(model->find_submodule("true_graph_0"), nullptr);
  for (const Tensor& x : {numbers({1, 2}), numbers({-1, -2})})
    EXPECT_EQ(floats(gm(x)), floats(model(x)));
}

TEST(Bodies, IsSavedAndLoaded) {
  const auto gm = symbolic_trace(Model::create());
  const auto loaded = fx::testing_archive::round_trip(*gm);
  EXPECT_EQ(loaded->graph().str(), gm->graph().str());
  EXPECT_EQ(loaded->str(), gm->str());
  for (const Tensor& x : {numbers({1, 2}), numbers({-1, -2})})
    EXPECT_EQ(floats(loaded(x)), floats(gm(x)));
}

TEST(Bodies, CopiesHaveBodiesOfTheirOwn) {
  const auto gm = symbolic_trace(Model::create());
  const auto copy = gm->copy();
  EXPECT_NE(copy->find_submodule("true_graph_0"),
            gm->find_submodule("true_graph_0"));
  const Tensor x = numbers({1, 2});
  EXPECT_EQ(floats(copy(x)), floats(gm(x)));
  const auto again = symbolic_trace(gm);
  EXPECT_EQ(floats(again(x)), floats(gm(x)));
}

TEST(Bodies, AppendsToGraphsOfModules) {
  const auto gm = symbolic_trace([](Value x) { return x + 1; }, {"x"});
  const fx::NodePtr out = gm->graph().output_node();
  {
    const auto at = gm->graph().inserting_before(out);
    const Value sum = fx::proxy(out->arg_node(0));
    const Value chosen = cond(
        method(sum, "sum") > 0.0, [](Value x) { return x * 2; },
        [](Value x) { return -x; }, {sum});
    out->set_args({Value(fx::node_of(chosen))});
  }
  gm->recompile();
  EXPECT_EQ(floats(gm(numbers({1, 2}))), (std::vector<float>{4, 6}));
  EXPECT_EQ(floats(gm(numbers({-3, -4}))), (std::vector<float>{2, 3}));
}

TEST(Bodies, RunsAtOnceOnValues) {
  const Value x = numbers({1, 2});
  const auto add = [](Value x) { return x + 1; };
  const auto twice = [](Value x) { return x * 2; };
  EXPECT_EQ(floats(cond(Tensor::full({}, 1, DType::boolean), add, twice, {x})),
            (std::vector<float>{2, 3}));
  EXPECT_EQ(floats(cond(false, add, twice, {x})), (std::vector<float>{2, 4}));
  const Value counted = while_loop(
      [](Value i, Value) { return i < 3; },
      [](Value i, Value x) { return pair(i + 1, x * 2); },
      {Tensor::full({}, 0, DType::i64), x});
  EXPECT_EQ(floats(counted.at(1)), (std::vector<float>{8, 16}));
}

TEST(Bodies, ScansAlongAnyDimBothWays) {
  Tensor xs = Tensor::empty({2, 3}, DType::f32);
  for (int i = 0; i < 6; ++i) xs.data_as<float>()[i] = float(i + 1);
  const auto add = [](Value c, Value x) { return pair(c + x, c * 1); };
  const Value init = numbers({0, 0});
  const Value forth = scan(add, init, xs, {.dim = 1});
  EXPECT_EQ(floats(forth.at(0)), (std::vector<float>{6, 15}));
  EXPECT_EQ(floats(forth.at(1)), (std::vector<float>{0, 1, 3, 0, 4, 9}));
  const Value back = scan(add, init, xs, {.dim = 1, .reverse = true});
  EXPECT_EQ(floats(back.at(1)), (std::vector<float>{5, 3, 0, 11, 6, 0}));
  const Value sums = associative_scan(
      [](Value a, Value b) { return a + b; }, xs, -1, /*reverse=*/true);
  EXPECT_EQ(floats(sums), (std::vector<float>{6, 5, 3, 15, 11, 6}));
}

TEST(Bodies, ScansTrees) {
  const auto step = [](Value c, Value x) {
    return pair(Value::dict({{"s", getitem(c, "s") + getitem(x, 0)}}),
                Value::list({getitem(c, "s") * getitem(x, 1), getitem(x, 0) + 1}));
  };
  const auto gm = symbolic_trace(
      [step](Value c, Value a, Value b) {
        return scan(step, Value::dict({{"s", c}}), pair(a, b));
      },
      {"c", "a", "b"});
  const Value got = gm->call({numbers({1}), numbers({2, 3}), numbers({4, 5})});
  EXPECT_EQ(floats(getitem(got.at(0), "s")), (std::vector<float>{6}));
  EXPECT_EQ(floats(got.at(1).at(0)), (std::vector<float>{4, 15}));
  EXPECT_EQ(floats(got.at(1).at(1)), (std::vector<float>{3, 4}));
}

TEST(Bodies, ResultsDoNotShareMemoryWithOperands) {
  const auto gm = symbolic_trace(
      [](Value p, Value x) {
        return cond(
            p, [](Value x) { return x; }, [](Value x) { return x * 2; }, {x});
      },
      {"p", "x"});
  const Tensor x = numbers({1, 2});
  const Value got = gm->call({Tensor::full({}, 1, DType::boolean), x});
  EXPECT_EQ(floats(got), floats(x));
  EXPECT_NE(got.as_tensor().storage(), x.storage());
}

TEST(Bodies, ShapesAreKnownWithoutData) {
  const auto gm = symbolic_trace(Model::create());
  const Value got = gm->call({Tensor::meta({2}, DType::f32)});
  EXPECT_EQ(got.as_tensor().sizes(), Dims({2}));
}

TEST(Bodies, NodesNameOnlyMembers) {
  const auto other = symbolic_trace([](Value x) { return x; }, {"x"});
  EXPECT_THROW(symbolic_trace(
                   [&](Value x) {
                     return fx::call_by_name(
                         "torch.ops.higher_order.cond",
                         {x, fx::module_value(other), fx::module_value(other),
                          Value::tuple({x})});
                   },
                   {"x"}),
               NameError);
}

TEST(Bodies, BranchesThatDifferAreRefused) {
  const auto one = [](Value x) { return x + 1; };
  const auto two = [](Value x) { return pair(x, x); };
  EXPECT_THROW(symbolic_trace(
                   [&](Value x) { return cond(x, one, two, {x}); }, {"x"}),
               RuntimeError);
  const auto list = [](Value x) { return Value::list({x, x}); };
  EXPECT_THROW(symbolic_trace(
                   [&](Value x) { return cond(x, list, two, {x}); }, {"x"}),
               RuntimeError);
}

// Without data both branches are looked at.
TEST(Bodies, BranchesOfOtherTypesAndRanksAreFound) {
  const auto message = [](auto on_true, auto on_false) {
    const auto gm = symbolic_trace(
        [=](Value p, Value x) { return cond(p, on_true, on_false, {x}); },
        {"p", "x"});
    try {
      gm->call({Tensor::meta({}, DType::boolean),
                Tensor::meta({2, 3}, DType::f32)});
    } catch (const RuntimeError& error) {
      EXPECT_EQ(error.context().node, "cond");
      return error.message();
    }
    return std::string();
  };
  const auto same = [](Value x) { return x + 1; };
  EXPECT_EQ(message(same, [](Value x) { return method(x, "double"); }),
            "When merging two branches' output in torch.cond,  expected same "
            "dtype but got torch.float32 and torch.float64.");
  EXPECT_EQ(message(same, [](Value x) { return method(x, "sum", {0}); }),
            "When merging two branches' output in torch.cond,  expected same "
            "dim but got 2 and 1.");
}

TEST(Bodies, WhatIsCarriedKeepsItsShape) {
  const auto gm = symbolic_trace(
      [](Value x) {
        return while_loop(
            [](Value x) { return method(x, "sum") < 10.0; },
            [](Value x) { return Value::tuple({cat(Value::list({x, x}))}); },
            {x});
      },
      {"x"});
  try {
    gm->call({numbers({1, 2})});
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.message(),
              "Expected body_fn_output and carried_inputs to have same metadata "
              "but found:\npair[0] differ in 'shape: torch.Size([4]) vs "
              "torch.Size([2])', where lhs is float32[4] and rhs is "
              "float32[2]");
    EXPECT_EQ(error.context().node, "while_loop");
    EXPECT_NE(error.context().source.line, 0);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
