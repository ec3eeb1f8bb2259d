// Containers as concrete arguments. Expected texts are torch 2.13's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/log.h"
#include "fxjit/nn.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::HasSubstr;

double first(const Value& value) { return value.as_tensor().to_floats()[0]; }
Tensor full(double value) { return Tensor::full({1}, value); }

Value add_all(Value x, Value y) {
  Value sum = y;
  for (const auto& [key, part] : x.as_dict()) sum = sum + part;
  return Value::dict({{"sum", sum}, {"parts", Value::tuple({sum, y})}});
}

const ConcreteArgs& two_parts() {
  static const ConcreteArgs args = {
      {"x", Value::dict({{"a", PH()}, {"b", PH()}})}};
  return args;
}

TEST(ConcreteArgs, ContainersAreFlattened) {
  const auto gm = symbolic_trace(add_all, {"x", "y"}, "f", two_parts());
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, x, y):\n"
            "    x_1, x_2, y, = fx_pytree.tree_flatten_spec([x, y], "
            "self._in_spec)\n"
            "    add = y + x_1;  x_1 = None\n"
            "    add_1 = add + x_2;  add = x_2 = None\n"
            "    return pytree.tree_unflatten([add_1, add_1, y], "
            "self._out_spec)\n    ");
  EXPECT_THAT(gm->graph().str(), HasSubstr("return [add_1, add_1, y]"));
  const Value x = Value::dict({{"b", full(2)}, {"a", full(1)}});
  for (const Value& out :
       {gm->call({x, full(4)}), gm->call({x}, {{"y", full(4)}}),
        Interpreter(*gm).run({x, full(4)})}) {
    EXPECT_EQ(first(*out.find("sum")), 7);
    EXPECT_EQ(first(out.find("parts")->at(1)), 4);
  }
}

TEST(ConcreteArgs, WrongContainersAreRefused) {
  const auto gm = symbolic_trace(add_all, {"x", "y"}, "f", two_parts());
  EXPECT_THROW(gm->call({Value::dict({{"a", full(1)}}), full(1)}), KeyError);
  EXPECT_THROW(gm->call({full(1), full(1)}), TypeError);
  EXPECT_THROW(gm->call({full(1)}), TypeError);
}

TEST(ConcreteArgs, LeavesMayBeSpecialised) {
  const auto gm =
      symbolic_trace([](Value x) -> Value { return x.at(0) * x.at(1); }, {"x"},
                     "f", {{"x", Value::list({PH(), 3})}});
  EXPECT_THAT(gm->code(), HasSubstr("x_1, x_2, = "));
  EXPECT_THAT(gm->code(), HasSubstr("eq = x_2 == 3"));
  EXPECT_EQ(first(gm->call({Value::list({full(2), 3})})), 6);
  EXPECT_THROW(gm->call({Value::list({full(2), 4})}), AssertionError);
}

class Adder : public nn::Custom<Adder> {
 public:
  Adder() : Custom("Adder", {"x", {"flag", true}}) {
    w = register_parameter("w", full(10));
  }
  Value forward(Value x, Value flag) {
    return flag ? x.at(0) + x.at(1) + w : x.at(0);
  }
  nn::Parameter w;
};

TEST(ConcreteArgs, ModulesListSelf) {
  const auto gm = symbolic_trace(
      Adder::create(), {{"x", Value::tuple({PH(), PH()})}, {"flag", true}});
  EXPECT_THAT(gm->code(), HasSubstr("def forward(self, x, flag):\n"
                                    "    self, x_1, x_2, flag_1, = "
                                    "fx_pytree.tree_flatten_spec([self, x, "
                                    "flag], self._in_spec)\n"));
  EXPECT_EQ(first(gm->call({Value::tuple({full(1), full(2)}), true})), 13);
}

TEST(ConcreteArgs, NestedModulesKeepTheirContainers) {
  class Outer : public nn::Custom<Outer> {
   public:
    Outer() : Custom("Outer", {"a", "b"}) {
      inner = register_module(
          "inner",
          symbolic_trace(Adder::create(),
                         {{"x", Value::tuple({PH(), PH()})}, {"flag", true}}));
    }
    Value forward(Value a, Value b) {
      return inner(Value::tuple({a, b}), true);
    }
    nn::Ref<GraphModule> inner;
  };
  const auto gm = symbolic_trace(Outer::create());
  EXPECT_EQ(first(gm(full(1), full(2))), 13);
  const auto again = symbolic_trace(
      symbolic_trace(add_all, {"x", "y"}, "f", two_parts()), two_parts());
  const Value x = Value::dict({{"a", full(1)}, {"b", full(2)}});
  EXPECT_EQ(first(*again->call({x, full(4)}).find("sum")), 7);
}

TEST(ConcreteArgs, SurviveCopiesAndTransformers) {
  const auto gm = symbolic_trace(add_all, {"x", "y"}, "f", two_parts());
  const Value x = Value::dict({{"a", full(1)}, {"b", full(2)}});
  EXPECT_EQ(first(*gm->copy()->call({x, full(4)}).find("sum")), 7);
  const auto transformed = Transformer(gm).transform();
  EXPECT_EQ(transformed->code(), gm->code());
  EXPECT_EQ(first(*transformed->call({x, full(4)}).find("sum")), 7);
}

TEST(ConcreteArgs, ByPosition) {
  const auto f = [](Value x, Value flag) -> Value { return flag ? x + 1 : x; };
  const auto gm = symbolic_trace(f, {"x", "flag"}, "f",
                                 concrete_tuple({PH("image"), true}));
  const Node* const x = gm->graph().placeholders()[0];
  EXPECT_EQ(x->name(), "x_1");
  EXPECT_EQ(x->meta().at("ph_key").as_string(), "image");
  try {
    symbolic_trace(f, {"x", "flag"}, "f", concrete_tuple({true}));
    FAIL() << "expected an error";
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.message(),
              "Tracing expected 2 arguments but got 1 concrete arguments");
  }
}

TEST(ConcreteArgs, VariadicByPosition) {
  class Variadic : public nn::Custom<Variadic> {
   public:
    Variadic() : Custom("Variadic", {"*args"}) {}
    Value forward(Value args) { return args.at(0) + args.at(1); }
  };
  const auto gm =
      symbolic_trace(Variadic::create(), concrete_tuple({PH(), PH()}));
  EXPECT_EQ(gm->code(),
            "\n\n\n"
            "def forward(self, input_0, input_1):\n"
            "    add = input_0 + input_1;  input_0 = input_1 = None\n"
            "    return add\n    ");
  try {
    symbolic_trace([](Value args) -> Value { return args; }, {"*args"}, "f",
                   concrete_tuple({PH(), PH()}));
    FAIL() << "expected an error";
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.message(),
              "Tracing expected 0 arguments but got 2 concrete arguments");
  }
}

TEST(ConcreteArgs, WarnsWhatItCannotAssert) {
  std::string message;
  set_log_callback(
      [&](LogLevel, std::string_view text) { message = std::string(text); });
  symbolic_trace([](Value x, Value) -> Value { return x; }, {"x", "t"}, "f",
                 {{"t", full(1)}});
  set_log_callback({});
  EXPECT_THAT(message, HasSubstr("Was not able to add assertion to guarantee "
                                 "correct input t to specialized function."));
}

TEST(PyTree, FlattensInOrder) {
  const Value tree =
      Value::tuple({1, Value::dict({{"b", 2}, {"a", Value::list({3, None})}}),
                    Value::slice(4, 5)});
  const auto [leaves, spec] = tree_flatten(tree);
  EXPECT_EQ(repr(Value::list(leaves)), "[1, 2, 3, None, slice(4, 5, None)]");
  EXPECT_EQ(spec.str(), "(*, {'b': *, 'a': [*, *]}, *)");
  EXPECT_TRUE(same(tree_unflatten(leaves, spec), tree));
  EXPECT_EQ(spec.child(1).child(1).num_leaves(), 2u);
  EXPECT_TRUE(TreeSpec().is_leaf());
  EXPECT_THROW(tree_unflatten({1}, spec), ValueError);
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
