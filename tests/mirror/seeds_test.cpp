// The examples of torch.fx's own documentation and of articles about it.
#include <cmath>

#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Seeds)

namespace {

using fx::Opcode;
using fx::symbolic_trace;

class FirstModule : public nn::Custom<FirstModule> {
 public:
  FirstModule() : Custom("MyModule", {"x"}) {
    param = register_parameter("param", Tensor::zeros({3, 4}));
    linear = register_module("linear", nn::Linear::create(4, 5));
  }
  Value forward(Value x) {
    return method(linear(x + param), "clamp", {}, {{"min", 0.0}, {"max", 1.0}});
  }
  nn::Parameter param;
  nn::Ref<nn::Linear> linear;
};

class Activated : public nn::Custom<Activated> {
 public:
  explicit Activated(bool do_activation)
      : Custom("MyModule", {"x"}), do_activation(do_activation) {
    linear = register_module("linear", nn::Linear::create(8, 8));
  }
  Value forward(Value x) {
    x = linear(x);
    if (do_activation) x = relu(x);
    return x;
  }
  const bool do_activation;
  nn::Ref<nn::Linear> linear;
};

class Special : public nn::Custom<Special> {
 public:
  Special() : Custom("MySpecialSubmodule", {"x"}) {}
  Value forward(Value x) { return neg(x); }
};

class WithSpecial : public nn::Custom<WithSpecial> {
 public:
  WithSpecial() : Custom("MyModule", {"x"}) {
    linear = register_module("linear", nn::Linear::create(3, 4));
    submod = register_module("submod", Special::create());
  }
  Value forward(Value x) { return submod(linear(x)); }
  nn::Ref<nn::Linear> linear;
  nn::Ref<Special> submod;
};

class OwnWeight : public nn::Custom<OwnWeight> {
 public:
  OwnWeight() : Custom("MyModule", {"x"}) {
    linear = register_module("linear", nn::Linear::create(4, 4));
  }
  Value forward(Value x) {
    const Value up = linear(x + linear->weight);
    return function("torch.sum", {method(up, "relu")}, {{"dim", -1}});
  }
  nn::Ref<nn::Linear> linear;
};

class Block : public nn::Custom<Block> {
 public:
  explicit Block(int seed) : Custom("N", {"x"}) {
    set_attr("a", fill({2}, seed));
    b = register_parameter("b", Tensor::zeros({1}));
  }
  Value forward(Value x) { return x * attr("a") + b; }
  nn::Parameter b;
};

class Blocks : public nn::Custom<Blocks> {
 public:
  Blocks() : Custom("M", {"x"}) {
    blocks = register_module(
        "blocks", nn::ModuleList::create(Block::create(0), Block::create(1),
                                         Block::create(2)));
    layer = register_module("layer", Block::create(3));
  }
  Value forward(Value x) {
    for (const nn::ModuleRef& block : blocks->modules()) x = block(x);
    return layer(x);
  }
  nn::Ref<nn::ModuleList> blocks;
  nn::Ref<Block> layer;
};

class Variadic : public nn::Custom<Variadic> {
 public:
  Variadic() : Custom("MyModule", {"x", "y", "*args", "**kwargs"}) {
    param = register_parameter("param", Tensor::zeros({3, 4}));
    linear = register_module("linear", nn::Linear::create(4, 5));
  }
  Value forward(Value x, Value y, Value args, Value kwargs) {
    Value out = method(getitem(x, "a"), "clone");
    out -= getitem(x, "b");
    out += y;
    out += getitem(getitem(args, 0), "u");
    out += getitem(kwargs, "c");
    out = out + param;
    out = operators::matmul(out, fx::getattr(linear->weight, "T"));
    return method(out, "clamp", {0.0}, {{"max", 1.0}});
  }
  nn::Parameter param;
  nn::Ref<nn::Linear> linear;
};

}  // namespace

MIRROR_CASE(Seeds, first_module) {
  const auto gm = symbolic_trace(filled(FirstModule::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(Seeds, dynamic_control_flow) {
  expect_error([] {
    symbolic_trace(
        [](Value x) -> Value {
          const Value dim0 = getitem(fx::getattr(x, "size"), 0);
          return dim0 == 3 ? relu(x) : neg(x);
        },
        {"x"});
  });
}

MIRROR_CASE(Seeds, static_control_flow) {
  for (bool do_activation : {false, true}) {
    const auto gm = symbolic_trace(filled(Activated::create(do_activation)));
    expect_code(gm);
    expect_outputs(gm, {fill({2, 8})});
  }
}

MIRROR_CASE(Seeds, flag_by_closure) {
  const auto f = [](Value x, Value flag) -> Value { return flag ? x : x * 2; };
  expect_error([&] { symbolic_trace(f, {"x", "flag"}); });
  for (bool flag : {true, false}) {
    const auto gm = symbolic_trace(
        [&](Value x) -> Value { return f(x, flag); }, {"x"});
    expect_graph(gm);
    expect_code(gm);
    expect_outputs(gm, {fill({3})});
  }
}

MIRROR_CASE(Seeds, wrapped_builtins) {
  const fx::Wrapped len =
      fx::wrap("len", [](Value x) -> Value { return x.as_tensor().size(0); });
  const fx::Wrapped root = fx::wrap(
      "math.sqrt", [](Value x) -> Value { return std::sqrt(x.as_double()); });
  const auto gm = symbolic_trace(
      [&](Value x) -> Value { return x / root(len(x)); }, {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({4, 2})});
}

MIRROR_CASE(Seeds, custom_tracer) {
  class MyCustomTracer : public fx::Tracer {};
  MyCustomTracer tracer;
  auto graph = tracer.trace({"MyModule", {"x"}, [](std::vector<Value> a) {
                               return relu(a[0]) + ones({3, 4});
                             }});
  const auto gm = fx::GraphModule::create(*tracer.root, std::move(graph));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3, 4})});
}

MIRROR_CASE(Seeds, leaf_modules) {
  const auto gm = symbolic_trace(filled(WithSpecial::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Seeds, parameter_of_submodule) {
  const auto gm = symbolic_trace(filled(OwnWeight::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({4, 4})});
}

MIRROR_CASE(Seeds, proxy_operations) {
  fx::Tracer tracer;
  fx::Graph graph;
  tracer.graph = &graph;
  const Value proxy = tracer.create_proxy(Opcode::placeholder, "x", {}, {});
  proxy + 1;
  method(proxy, "add", {1});
  add(proxy, 2);
  ValueList ops;
  for (const fx::Node* node : graph.nodes())
    ops.emplace_back(fx::opcode_name(node->op()));
  expect_value("ops", Value::list(ops));
  expect_graph(graph);
}

MIRROR_CASE(Seeds, tensor_attributes) {
  const auto gm = symbolic_trace(filled(Blocks::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2})});
}

MIRROR_CASE(Seeds, loop_of_fixed_length) {
  const auto loop_shapes = [](Value x, int itr) {
    for (int i = 0; i < itr; ++i) x = function("torch.cat", {Value::tuple({x, x})}, {{"dim", 0}});
    return x;
  };
  const auto gm = symbolic_trace(
      [&](Value x) -> Value { return loop_shapes(x, 3); }, {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({1, 3})});
}

MIRROR_CASE(Seeds, variadic_module) {
  const auto gm = symbolic_trace(filled(Variadic::create()));
  expect_graph(gm);
  expect_code(gm);
}

}  // namespace fxjit::mirror
