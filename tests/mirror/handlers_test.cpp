// Interpreters and transformers from inside: what they look up and what they
// keep.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Handlers)

namespace TEST_FILE {

using fx::Interpreter;
using fx::Opcode;
using fx::symbolic_trace;
using fx::Target;
using fx::Transformer;

class Inner : public nn::Custom<Inner> {
 public:
  Inner() : Custom("Inner", {"x"}) {
    lin = register_module("lin", nn::Linear::create(3, 3));
    shift = register_buffer("shift", Tensor::zeros({3}));
  }
  Value forward(Value x) { return lin(x) + shift; }
  nn::Ref<nn::Linear> lin;
  nn::Buffer shift;
};

class Outer : public nn::Custom<Outer> {
 public:
  Outer() : Custom("Outer", {"x"}) {
    inner = register_module("inner", Inner::create());
    gain = register_parameter("gain", Tensor::zeros({3}));
  }
  Value forward(Value x) {
    const Value y = inner(x) * gain;
    return Value::tuple({method(y, "clamp", {}, {{"min", -1.0}}), y});
  }
  nn::Ref<Inner> inner;
  nn::Parameter gain;
};

nn::Ref<fx::GraphModule> traced() {
  return symbolic_trace(filled(Outer::create()));
}

Value tensor_of(const nn::Member& member) {
  if (const auto* parameter = std::get_if<nn::Parameter>(&member))
    return parameter->tensor();
  if (const auto* buffer = std::get_if<nn::Buffer>(&member))
    return buffer->tensor();
  return None;
}

Value dict_of(const Kwargs& kwargs) {
  ValueDict items;
  for (const auto& [key, value] : kwargs) items.emplace_back(key, value);
  return Value::dict(items);
}

ValueList left_in(const Interpreter& interpreter) {
  ValueList left;
  for (const fx::Node* node : interpreter.graph().nodes())
    if (interpreter.env.contains(*node)) left.emplace_back(node->name());
  return left;
}

class Skipping : public Interpreter {
 public:
  using Interpreter::Interpreter;
  Value run_node(const fx::Node& node) override {
    if (node.is(Opcode::call_method)) return *env.find(*node.arg_node(0));
    return Interpreter::run_node(node);
  }
};

class Changed : public Interpreter {
 public:
  using Interpreter::Interpreter;
  Value placeholder(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    return Interpreter::placeholder(target, args, kwargs) + 1;
  }
  Value get_attr(const Target& target, const ValueList& args,
                 const Kwargs& kwargs) override {
    const Value value = Interpreter::get_attr(target, args, kwargs);
    return target.text() == "gain" ? -value : value;
  }
  Value call_module(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    return Interpreter::call_module(target, args, kwargs) * 2;
  }
  Value output(const Target& target, const ValueList& args,
               const Kwargs& kwargs) override {
    const Value result = Interpreter::output(target, args, kwargs);
    return Value::dict({{"first", result.at(0)}, {"n", args.size()}});
  }
};

class Counting : public Interpreter {
 public:
  using Interpreter::Interpreter;
  Value run_node(const fx::Node& node) override {
    const Value kind = fx::opcode_name(node.op());
    for (auto& [key, count] : counts)
      if (same(key, kind)) {
        count = count + 1;
        return Interpreter::run_node(node);
      }
    counts.emplace_back(kind, 1);
    return Interpreter::run_node(node);
  }
  ValueDict counts;
};

class Renaming : public Transformer {
 public:
  using Transformer::Transformer;
  Value placeholder(const Target& target, const ValueList& args,
                    const Kwargs& kwargs) override {
    const std::string name = std::string(target.text()) + "_in";
    return Transformer::placeholder(name, args, kwargs);
  }
};

class Scaling : public Transformer {
 public:
  using Transformer::Transformer;
  Value get_attr(const Target& target, const ValueList& args,
                 const Kwargs& kwargs) override {
    return Transformer::get_attr(target, args, kwargs) * 3;
  }
};

class Replacing : public Transformer {
 public:
  using Transformer::Transformer;
  Value call_module(const Target& target, const ValueList& args,
                    const Kwargs&) override {
    const std::string name = std::string(target.text()) + ".weight";
    const Value weight = tracer().create_proxy(Opcode::get_attr, name, {}, {});
    return matmul(args.at(0), weight);
  }
};

class Folding : public Transformer {
 public:
  using Transformer::Transformer;
  Value call_function(const Target& target, const ValueList& args,
                      const Kwargs& kwargs) override {
    if (target.text() == "torch.sigmoid") return 0.5;
    return Transformer::call_function(target, args, kwargs);
  }
};

class Dropping : public Transformer {
 public:
  using Transformer::Transformer;
  Value call_method(const Target&, const ValueList& args,
                    const Kwargs&) override {
    return args.at(0);
  }
  Value run_node(const fx::Node& node) override {
    if (node.target_name() == "torch._assert") return None;
    return Transformer::run_node(node);
  }
};

MIRROR_CASE(Handlers, attributes_fetched) {
  const auto gm = traced();
  const Interpreter interpreter(*gm);
  expect_value("gain", tensor_of(interpreter.fetch_attr("gain")));
  expect_value("shift", tensor_of(interpreter.fetch_attr("inner.shift")));
  expect_value("weight", tensor_of(interpreter.fetch_attr("inner.lin.weight")));
  const nn::Member lin = interpreter.fetch_attr("inner.lin");
  expect_value("module", std::get<nn::ModuleRef>(lin)->type_name());
  for (const char* name : {"none", "inner.none", "inner.lin.none.more"})
    expect_error([&] { interpreter.fetch_attr(name); });
}

MIRROR_CASE(Handlers, arguments_fetched) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value both = function("torch.cat", {Value::list({x, y}), 1});
        return function("torch.clamp", {both}, {{"min", 0}, {"max", 1}});
      },
      {"x", "y"});
  Interpreter interpreter(*gm, false);
  interpreter.run({fill({2, 1}), fill({2, 2}, 1)});
  for (const fx::Node* node : gm->graph().nodes()) {
    const auto [args, kwargs] = interpreter.fetch_args_kwargs_from_env(*node);
    expect_value(std::string(node->name()),
                 Value::list({Value::list(args), dict_of(kwargs)}));
  }
}

MIRROR_CASE(Handlers, nodes_mapped_to_values) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return x + y; }, {"x", "y"});
  Interpreter interpreter(*gm, false);
  interpreter.run({fill({2}), 3});
  const fx::NodePtr x = gm->graph().find_node("x");
  const fx::NodePtr y = gm->graph().find_node("y");
  const fx::NodePtr add = gm->graph().find_node("add");
  const Value whole =
      Value::tuple({add, Value::list({y, Value::dict({{"k", x}})}), 2.5, None});
  expect_value("mapped", interpreter.map_nodes_to_values(whole, *add));
  const Interpreter empty(*gm);
  expect_error([&] {
    empty.map_nodes_to_values(Value::tuple({1, Value::list({y})}), *add);
  });
}

MIRROR_CASE(Handlers, errors_with_and_without_the_node) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return function("torch.reshape", {relu(x), Value::tuple({4, 4})});
      },
      {"x"});
  for (const bool wanted : {true, false}) {
    Interpreter interpreter(*gm);
    interpreter.extra_traceback = wanted;
    expect_error([&] { interpreter.run({fill({3})}); });
  }
}

MIRROR_CASE(Handlers, values_left_by_an_error) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value y = relu(x) + x;
        return function("torch.reshape", {y, Value::tuple({4, 4})});
      },
      {"x"});
  Interpreter interpreter(*gm);
  expect_error([&] { interpreter.run({fill({3})}); }, "\n");
  expect_value("left", left_in(interpreter));
  expect_value("reshaped", interpreter.run({fill({16})}));
  expect_value("left", left_in(interpreter));
}

MIRROR_CASE(Handlers, another_graph_of_the_module) {
  const auto gm = traced();
  fx::Graph graph;
  const fx::NodePtr x = graph.placeholder("x");
  const fx::NodePtr lin = graph.call_module("inner.lin", {x});
  const fx::NodePtr gain = graph.get_attr("gain");
  graph.output(graph.call_function("torch.mul", {lin, gain}));
  Interpreter interpreter(*gm, graph);
  expect_value("result", interpreter.run({fill({2, 3})}));
  expect_value("same", ValueList{&interpreter.module() == gm.get(),
                                 &interpreter.graph() == &graph});
}

MIRROR_CASE(Handlers, inputs_given_beforehand) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value twice = x * 2;
        return Value::tuple({twice, y + 1});
      },
      {"x", "y"});
  const fx::Graph& graph = gm->graph();
  fx::Env env(graph);
  env.set(*graph.find_node("x"), fill({2}));
  env.set(*graph.find_node("mul"), Tensor::full({2}, 1));
  expect_value("result",
               Interpreter(*gm).run({fill({2}, 5), fill({2}, 6)}, env));
  fx::Env all(graph);
  all.set(*graph.find_node("mul"), 1);
  all.set(*graph.find_node("add"), 2);
  all.set(*graph.find_node("x"), 3);
  all.set(*graph.find_node("y"), 4);
  expect_value("all", Interpreter(*gm).run({}, all));
}

MIRROR_CASE(Handlers, nodes_left_out_by_a_handler) {
  const auto gm = traced();
  expect_value("result", Skipping(*gm).run({fill({2, 3})}));
}

MIRROR_CASE(Handlers, results_changed_by_handlers) {
  const auto gm = traced();
  expect_value("result", Changed(*gm).run({fill({2, 3})}));
}

MIRROR_CASE(Handlers, counted_by_kind) {
  const auto gm = traced();
  Counting counting(*gm);
  counting.run({fill({2, 3})});
  counting.run({fill({1, 3})});
  expect_value("counts", Value::dict(counting.counts));
}

MIRROR_CASE(Handlers, inputs_renamed_by_a_transformer) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return x * y; }, {"x", {"y", 2}});
  const auto made = Renaming(gm).transform();
  expect_graph(made);
  expect_code(made);
  expect_outputs(made, {fill({3})});
}

MIRROR_CASE(Handlers, attributes_scaled_by_a_transformer) {
  const auto made = Scaling(traced()).transform();
  expect_graph(made);
  expect_code(made);
  expect_outputs(made, {fill({2, 3})});
}

MIRROR_CASE(Handlers, modules_replaced_by_a_transformer) {
  const auto made = Replacing(traced()).transform();
  expect_graph(made);
  expect_outputs(made, {fill({2, 3})});
}

MIRROR_CASE(Handlers, constants_from_a_transformer) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return add(sigmoid(x), x) * 2; }, {"x"});
  Folding transformer(gm);
  expect_value("before", transformer.new_graph().size());
  const auto made = transformer.transform();
  expect_graph(made);
  expect_outputs(made, {fill({3})});
}

MIRROR_CASE(Handlers, nodes_dropped_by_a_transformer) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        fx::torch_assert(method(x, "sum") > 0, "positive");
        return method(x, "relu") + 1;
      },
      {"x"});
  const auto made = Dropping(gm).transform();
  expect_graph(made);
  expect_outputs(made, {fill({3})});
}

MIRROR_CASE(Handlers, methods_run_on_values) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value flipped = method(method(x, "t"), "contiguous");
        const Value flat = method(flipped, "view", {-1});
        const Value size = method(x, "size", {0});
        return Value::tuple({flat, size, method(x, "dim")});
      },
      {"x"});
  Interpreter interpreter(*gm);
  expect_value("result", interpreter.run({fill({2, 3})}));
  expect_value("module", &interpreter.module() == gm.get());
  expect_error(
      [] {
        const auto wrong = symbolic_trace(
            [](Value x) -> Value { return method(x, "no_such"); }, {"x"});
        Interpreter(*wrong).run({fill({2})});
      },
      "\n");
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
