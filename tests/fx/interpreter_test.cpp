#include "fxjit/fx/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx/symbolic_trace.h"
#include "fxjit/fx/transformer.h"
#include "fxjit/fx/wrap.h"
#include "fxjit/nn/custom.h"

namespace fxjit::fx {
namespace TEST_FILE {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

template <typename F>
nn::Ref<GraphModule> trace(F function, nn::Signature signature) {
  return symbolic_trace(function, std::move(signature), "f");
}

double first(const Value& value) { return value.as_tensor().to_floats()[0]; }

TEST(Interpreter, RunsAndCallsRunNodeForEveryNode) {
  class Counting : public Interpreter {
   public:
    using Interpreter::Interpreter;
    Value run_node(const Node& node) override {
      names.emplace_back(node.name());
      return Interpreter::run_node(node);
    }
    std::vector<std::string> names;
  };
  const auto gm = trace([](Value x) -> Value { return relu(x) + 1; }, {"x"});
  Counting interpreter(*gm);
  EXPECT_EQ(first(interpreter.run({Tensor::full({1}, 2)})), 3);
  EXPECT_THAT(interpreter.names, ElementsAre("x", "relu", "add", "output"));
  EXPECT_EQ(interpreter.env.size(), 1u);
  EXPECT_TRUE(interpreter.env.contains(*gm->graph().output_node()));
}

TEST(Interpreter, KeepsValuesOnRequest) {
  const auto gm = trace([](Value x) -> Value { return relu(x) + 1; }, {"x"});
  Interpreter interpreter(*gm, /*garbage_collect_values=*/false);
  interpreter.run({Tensor::full({1}, 2)});
  EXPECT_EQ(interpreter.env.size(), 4u);
}

TEST(Interpreter, HandlersMayBeOverridden) {
  class Swap : public Interpreter {
   public:
    using Interpreter::Interpreter;
    Value call_function(const Target& target, const ValueList& args,
                        const Kwargs& kwargs) override {
      if (target == Target(ops::get_function("torch.sigmoid")))
        return neg(args[0]);
      return Interpreter::call_function(target, args, kwargs);
    }
    Value call_method(const Target& target, const ValueList& args,
                      const Kwargs& kwargs) override {
      if (target.text() == "neg") return sigmoid(args[0]);
      return Interpreter::call_method(target, args, kwargs);
    }
  };
  const auto gm =
      trace([](Value x) -> Value { return method(sigmoid(x), "neg"); }, {"x"});
  EXPECT_EQ(first(Swap(*gm).run({Tensor::zeros({1})})), 0.5);
}

TEST(Interpreter, InitialEnvironmentShortCircuits) {
  const auto gm = trace([](Value x) -> Value { return relu(x) + 1; }, {"x"});
  Env env(gm->graph());
  env.set(*gm->graph().find_node("relu"), Tensor::full({1}, 40));
  EXPECT_EQ(first(Interpreter(*gm).run({Tensor::zeros({1})}, env)), 41);
}

TEST(Interpreter, StarArgsAndDefaults) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y", None, Value(3.5));
  const NodePtr rest = graph.placeholder("*args");
  graph.output(Value::tuple({x, y, rest}));
  const nn::Module empty;
  EXPECT_EQ(repr(Interpreter(empty, graph).run({1, 2, 3, 4})),
            "(1, 2, [3, 4])");
  EXPECT_EQ(repr(Interpreter(empty, graph).run({1})), "(1, 3.5, [])");
}

TEST(Interpreter, NotEnoughArguments) {
  const auto gm =
      trace([](Value x, Value y) -> Value { return x + y; }, {"x", "y"});
  try {
    Interpreter(*gm).run({Tensor::zeros({1})});
    FAIL() << "expected an error";
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.message(),
                HasSubstr("Expected positional argument for parameter y, but "
                          "one was not passed in!"));
  }
}

TEST(Interpreter, ErrorsNameNodeModuleAndLine) {
  class Inner : public nn::Custom<Inner> {
   public:
    Inner() : Custom("Inner", {"x"}) {}
    Value forward(Value x) {
      line = __LINE__ + 1;
      return x + Tensor::zeros({3});
    }
    int line = 0;
  };
  class Outer : public nn::Custom<Outer> {
   public:
    Outer() : Custom("Outer", {"x"}) {
      inner = register_module("inner", Inner::create());
    }
    Value forward(Value x) { return inner(x); }
    nn::Ref<Inner> inner;
  };
  const auto outer = Outer::create();
  const auto gm = symbolic_trace(outer);
  try {
    Interpreter(*gm).run({Tensor::zeros({2})});
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(),
                HasSubstr("While executing %add : [num_users=1] = "
                          "call_function[target=operator.add](args = (%x, "
                          "%_tensor_constant0), kwargs = {})"));
    EXPECT_EQ(error.context().node, "add");
    EXPECT_EQ(error.context().module_path, "inner");
    EXPECT_EQ(error.context().source.line, outer->inner->line);
    EXPECT_THAT(error.what(), EndsWith(" in inner"));
  }
}

TEST(Interpreter, MissingValuesAndTargets) {
  const nn::Module empty("M");
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr relu = graph.call_method("relu", {x});
  const NodePtr neg = graph.call_method("neg", {relu});
  relu->prepend(neg);
  graph.output(neg);
  try {
    Interpreter(empty, graph).run({Tensor::zeros({1})});
    FAIL() << "expected an error";
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.message(),
                HasSubstr("Node neg referenced nonexistent value relu! Run "
                          "Graph.lint() to diagnose such issues"));
  }
  Graph missing;
  missing.output(missing.get_attr("a.b.c"));
  try {
    Interpreter(empty, missing).run({});
    FAIL() << "expected an error";
  } catch (const RuntimeError& error) {
    EXPECT_THAT(error.message(),
                HasSubstr("Node referenced nonexistent target a"));
  }
}

TEST(Interpreter, BoxedRunClearsItsArguments) {
  const auto gm =
      trace([](Value x, Value y) -> Value { return x + y; }, {"x", "y"});
  ValueList args = {Tensor::full({1}, 1), Tensor::full({1}, 2)};
  EXPECT_EQ(first(Interpreter(*gm).boxed_run(&args)), 3);
  EXPECT_TRUE(args.empty());
  EXPECT_THROW(Interpreter(*gm).boxed_run(&args), RuntimeError);
}

// Inputs die as soon as nothing needs them.
TEST(Interpreter, FreesValuesAfterTheirLastUse) {
  std::weak_ptr<Storage> input;
  bool alive = true;
  const Wrapped check = wrap("interpreter_test_check", [&](Value v) -> Value {
    alive = !input.expired();
    return v;
  });
  const auto gm =
      trace([&](Value x) -> Value { return check(relu(x + 1) * 2); }, {"x"});
  ValueList args = {Tensor::zeros({1})};
  input = args[0].as_tensor().storage();
  Interpreter(*gm).boxed_run(&args);
  EXPECT_FALSE(alive);
}

TEST(Transformer, CopiesWithoutChange) {
  const auto gm = trace(
      [](Value x) -> Value {
        return Value::tuple({relu(x) + 1, method(x, "neg")});
      },
      {"x"});
  const auto copy = Transformer(gm).transform();
  EXPECT_EQ(copy->graph().str(), gm->graph().str());
  EXPECT_NE(&copy->graph(), &gm->graph());
  copy->graph().lint();
  EXPECT_EQ(copy->graph().find_node("add")->source().line,
            gm->graph().find_node("add")->source().line);
}

TEST(Transformer, SwapsOps) {
  class Swap : public Transformer {
   public:
    using Transformer::Transformer;
    Value call_function(const Target& target, const ValueList& args,
                        const Kwargs& kwargs) override {
      if (target == Target(ops::get_function("torch.sigmoid")))
        return neg(args[0]);
      return Transformer::call_function(target, args, kwargs);
    }
    Value call_method(const Target& target, const ValueList& args,
                      const Kwargs& kwargs) override {
      if (target.text() == "neg") return method(args[0], "sigmoid");
      return Transformer::call_method(target, args, kwargs);
    }
  };
  const auto gm =
      trace([](Value x) -> Value { return method(sigmoid(x), "neg"); }, {"x"});
  const auto swapped = Swap(gm).transform();
  EXPECT_EQ(swapped->code(),
            "\n\n\n"
            "def forward(self, x):\n"
            "    neg = torch.neg(x);  x = None\n"
            "    sigmoid = neg.sigmoid();  neg = None\n"
            "    return sigmoid\n    ");
  EXPECT_EQ(first(swapped(Tensor::zeros({1}))), 0.5);
}

TEST(Transformer, KeepsModulesParametersAndWrappedCalls) {
  const Wrapped fn = wrap("interpreter_test_fn", [](Value v) { return v * 2; });
  class Leaf : public nn::Custom<Leaf> {
   public:
    Leaf() : Custom("Leaf", {"x"}) {}
    bool is_leaf() const override { return true; }
    Value forward(Value x) { return x + 1; }
  };
  class M : public nn::Custom<M> {
   public:
    explicit M(Wrapped f) : Custom("M", {"x"}), fn(f) {
      leaf = register_module("leaf", Leaf::create());
      w = register_parameter("w", Tensor::full({1}, 3));
    }
    Value forward(Value x) { return fn(leaf(x) * w); }
    Wrapped fn;
    nn::Ref<Leaf> leaf;
    nn::Parameter w;
  };
  const auto m = M::create(fn);
  const auto gm = symbolic_trace(m);
  const auto copy = Transformer(gm).transform();
  EXPECT_EQ(copy->graph().str(), gm->graph().str());
  EXPECT_EQ(first(copy(Tensor::zeros({1}))), 6);
  EXPECT_EQ(first(copy(Tensor::zeros({1}))), first(m(Tensor::zeros({1}))));
}

}  // namespace TEST_FILE
}  // namespace fxjit::fx
