// Interpreter and Transformer: what their handlers see and make.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Interpreting)

namespace TEST_FILE {

using fx::Interpreter;
using fx::symbolic_trace;
using fx::Target;
using fx::Transformer;

class Model : public nn::Custom<Model> {
 public:
  Model() : Custom("Model", {"x"}) {
    param = register_parameter("param", Tensor::zeros({3, 4}));
    linear = register_module("linear", nn::Linear::create(4, 5));
  }
  Value forward(Value x) {
    return method(linear(x + param), "clamp", {}, {{"min", 0.0}, {"max", 1.0}});
  }
  nn::Parameter param;
  nn::Ref<nn::Linear> linear;
};

class Sigmoidal : public nn::Custom<Sigmoidal> {
 public:
  Sigmoidal() : Custom("M", {"x"}) {
    linear = register_module("linear", nn::Linear::create(3, 3));
  }
  Value forward(Value x) { return sigmoid(linear(x)) - x; }
  nn::Ref<nn::Linear> linear;
};

std::string dict_text(const Kwargs& kwargs) {
  ValueDict items;
  for (const auto& [key, value] : kwargs) items.emplace_back(key, value);
  return repr(Value::dict(items));
}

class Noting : public Interpreter {
 public:
  using Interpreter::Interpreter;
  Value run_node(const fx::Node& n) override {
    note(fx::opcode_name(n.op()), n.name());
    return Interpreter::run_node(n);
  }
  Value placeholder(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    note("placeholder", target.text());
    return Interpreter::placeholder(target, args, kwargs);
  }
  Value get_attr(const Target& target, const ValueList& args,
                 const Kwargs& kwargs) override {
    note("get_attr", target.text());
    return Interpreter::get_attr(target, args, kwargs);
  }
  Value call_method(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    note("call_method", std::string(target.text()) + " " + dict_text(kwargs));
    return Interpreter::call_method(target, args, kwargs);
  }
  Value call_module(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    note("call_module", target.text());
    return Interpreter::call_module(target, args, kwargs);
  }
  Value output(const Target& target, const ValueList& args,
               const Kwargs& kwargs) override {
    note("output", target.text());
    return Interpreter::output(target, args, kwargs);
  }
  ValueList seen;

 private:
  void note(std::string_view what, std::string_view which) {
    seen.emplace_back(std::string(what) + " " + std::string(which));
  }
};

class Shapes : public Interpreter {
 public:
  explicit Shapes(fx::GraphModule& module)
      : Interpreter(module), graph_(module.graph()) {}
  Value run_node(const fx::Node& n) override {
    const Value result = Interpreter::run_node(n);
    if (result.is_tensor())
      graph_.find_node(n.name())->meta().set("shape",
                                             result.as_tensor().sizes());
    return result;
  }

 private:
  fx::Graph& graph_;
};

class Swap : public Transformer {
 public:
  using Transformer::Transformer;
  Value call_function(const Target& target, const ValueList& args,
                      const Kwargs& kwargs) override {
    if (target.text() == "torch.sigmoid") return neg(args.at(0));
    return Transformer::call_function(target, args, kwargs);
  }
  Value call_module(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    return Transformer::call_module(target, args, kwargs) * 2;
  }
};

class Decompose : public Transformer {
 public:
  using Transformer::Transformer;
  Value call_function(const Target& target, const ValueList& args,
                      const Kwargs& kwargs) override {
    if (target.text() == "torch.nn.functional.silu")
      return args.at(0) * sigmoid(args.at(0));
    return Transformer::call_function(target, args, kwargs);
  }
  Value call_method(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    if (target.text() == "square") return args.at(0) * args.at(0);
    return Transformer::call_method(target, args, kwargs);
  }
};

MIRROR_CASE(Interpreting, every_handler_is_called) {
  const auto gm = symbolic_trace(filled(Model::create()));
  Noting noting(*gm);
  expect_value("result", noting.run({fill({3, 4}, 1)}));
  expect_value("seen", noting.seen);
}

MIRROR_CASE(Interpreting, partial_evaluation) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return method(relu(x), "neg") + 1; }, {"x"});
  fx::Env env(gm->graph());
  env.set(*gm->graph().find_node("relu"), fill({3}, 5));
  expect_value("result", Interpreter(*gm).run({fill({3})}, env));
}

MIRROR_CASE(Interpreting, star_arguments) {
  const auto gm = symbolic_trace(
      [](Value x, Value args) -> Value {
        const Value scale = getitem(args, 0);
        return x + scale * getitem(args, 1);
      },
      {"x", "*args"});
  expect_graph(gm);
  expect_code(gm);
  expect_value("result", Interpreter(*gm).run(
                             {fill({2}), fill({2}, 1), fill({2}, 2)}));
}

MIRROR_CASE(Interpreting, default_arguments) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return x + y; }, {"x", {"y", 3.14159}});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3})});
  expect_outputs(gm, {fill({3}), 2.0});
}

MIRROR_CASE(Interpreting, values_are_freed) {
  const auto gm = symbolic_trace(filled(Model::create()));
  for (bool collect : {true, false}) {
    Interpreter interpreter(*gm, collect);
    interpreter.run({fill({3, 4})});
    ValueList left;
    for (const fx::Node* node : gm->graph().nodes())
      if (interpreter.env.contains(*node)) left.emplace_back(node->name());
    expect_value("left", left);
  }
}

MIRROR_CASE(Interpreting, boxed_run) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return x * 2 + y; }, {"x", "y"});
  ValueList box{fill({2}), fill({2}, 3)};
  expect_value("result", Interpreter(*gm).boxed_run(&box));
  expect_value("box", box);
  expect_error([&] {
    ValueList one{fill({2})};
    Interpreter(*gm).boxed_run(&one);
  });
}

MIRROR_CASE(Interpreting, missing_value) {
  fx::Graph graph;
  const fx::NodePtr x = graph.placeholder("x");
  const fx::NodePtr relu = graph.call_function("torch.relu", {x});
  const fx::NodePtr neg = graph.call_function("torch.neg", {relu});
  graph.output(neg);
  relu->prepend(neg);
  const auto root = Model::create();
  Interpreter interpreter(*root, graph);
  expect_error([&] { interpreter.run({fill({2})}); });
}

MIRROR_CASE(Interpreting, attribute_that_is_gone) {
  const auto gm = symbolic_trace(filled(Model::create()));
  gm->remove_member("param");
  expect_error([&] { Interpreter(*gm).run({fill({3, 4})}); });
}

MIRROR_CASE(Interpreting, shapes_by_an_interpreter) {
  const auto gm = symbolic_trace(filled(Model::create()));
  Shapes(*gm).run({fill({3, 4})});
  ValueList shapes;
  for (const fx::Node* node : gm->graph().nodes()) {
    const Value* const shape = node->meta().find("shape");
    shapes.push_back(
        Value::list({node->name(), shape ? *shape : Value(None)}));
  }
  expect_value("shapes", shapes);
}

MIRROR_CASE(Interpreting, transformer_changes_nothing) {
  const auto gm = symbolic_trace(filled(Model::create()));
  const auto transformed = Transformer(gm).transform();
  expect_graph(transformed);
  expect_code(transformed);
  expect_outputs(transformed, {fill({3, 4})});
}

MIRROR_CASE(Interpreting, transformer_swaps_ops) {
  const auto gm = symbolic_trace(filled(Sigmoidal::create()));
  const auto transformed = Swap(gm).transform();
  expect_graph(transformed);
  expect_code(transformed);
  expect_outputs(transformed, {fill({2, 3})});
}

MIRROR_CASE(Interpreting, transformer_with_several_outputs) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value product = x * y;
        return Value::tuple(
            {product,
             Value::dict({{"neg", -x}, {"list", Value::list({x, y})}})});
      },
      {"x", {"y", 2}});
  const auto transformed = Transformer(gm).transform();
  expect_graph(transformed);
  expect_code(transformed);
  expect_outputs(transformed, {fill({3})});
}

MIRROR_CASE(Interpreting, transformer_keeps_variadics) {
  const auto gm = symbolic_trace(
      [](Value x, Value args, Value kwargs) -> Value {
        const Value total = x + getitem(args, 0);
        return total - getitem(kwargs, "z");
      },
      {"x", "*args", "**kwargs"}, "M");
  const auto transformed = Transformer(gm).transform();
  expect_graph(transformed);
  expect_code(transformed);
}

MIRROR_CASE(Interpreting, decomposing_transformer) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return method(nn::functional::silu(method(x, "square")), "square");
      },
      {"x"});
  const auto transformed = Decompose(gm).transform();
  expect_graph(transformed);
  expect_code(transformed);
  expect_outputs(transformed, {fill({4})});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
