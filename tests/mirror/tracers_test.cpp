// Tracers that change what is recorded, and what the standard one looks up.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Tracers)

namespace TEST_FILE {

using fx::GraphModule;
using fx::symbolic_trace;
using fx::Tracer;

class TwoLayers : public nn::Custom<TwoLayers> {
 public:
  TwoLayers() : Custom("M", {"x", {"y", 2}}) {
    seq = register_module("seq",
                          nn::Sequential::create(nn::Linear::create(3, 3),
                                                 nn::Tanh::create()));
    w = register_parameter("w", Tensor::zeros({3}));
  }
  Value forward(Value x, Value y) { return seq(x) * w + y; }
  nn::Ref<nn::Sequential> seq;
  nn::Parameter w;
};

class WithBuffer : public nn::Custom<WithBuffer> {
 public:
  WithBuffer() : Custom("WithBuffer", {"x"}) {
    scale = register_buffer("scale", Tensor::zeros({3}));
    set_attr("plain", fill({3}, 5));
  }
  Value forward(Value x) { return x * scale + attr("plain"); }
  nn::Buffer scale;
};

class Half : public nn::Custom<Half> {
 public:
  Half() : Custom("Half", {"x"}) {
    linear = register_module("linear", nn::Linear::create(3, 3));
  }
  Value forward(Value x) { return relu(linear(x)); }
  nn::Ref<nn::Linear> linear;
};

class Halves : public nn::Custom<Halves> {
 public:
  Halves() : Custom("Halves", {"x"}) {
    left = register_module("left", Half::create());
    right = register_module("right", Half::create());
  }
  Value forward(Value x) {
    const Value first = left(x);
    return first - right(x);
  }
  nn::Ref<Half> left, right;
};

class Shared : public nn::Custom<Shared> {
 public:
  Shared() : Custom("M", {"x"}) {
    a = register_module("a", nn::Linear::create(3, 3));
    register_module("b", a);
    register_parameter("w", a->weight);
  }
  Value forward(Value x) {
    const Value up = a(a(x));
    return operators::matmul(up, a->weight);
  }
  nn::Ref<nn::Linear> a;
};

class ByShape : public nn::Custom<ByShape> {
 public:
  explicit ByShape(std::string fact) : Custom("ByShape", {"x"}), fact(fact) {
    w = register_parameter("w", Tensor::zeros({4, 2}));
  }
  Value forward(Value x) {
    const Value weight = w;
    return holds(weight) ? relu(x + weight) : sigmoid(x + weight);
  }
  bool holds(const Value& weight) const {
    if (fact == "shape")
      return fx::getattr(weight, "shape").at(0).as_int() == 4;
    if (fact == "size") return method(weight, "size").at(1).as_int() == 2;
    if (fact == "ndim") return fx::getattr(weight, "ndim").as_int() == 2;
    if (fact == "numel") return method(weight, "numel").as_int() == 8;
    if (fact == "nelement") return method(weight, "nelement").as_int() > 8;
    return static_cast<bool>(method(weight, "dim") == 2);
  }
  const std::string fact;
  nn::Parameter w;
};

class LeftIsALeaf : public Tracer {
 public:
  bool is_leaf_module(const nn::Module& module,
                      std::string_view name) const override {
    return name == "left" || Tracer::is_leaf_module(module, name);
  }
};

class Doubling : public Tracer {
 public:
  Value call_module(nn::Module& module, const ValueList& args,
                    const Kwargs& kwargs) override {
    return Tracer::call_module(module, args, kwargs) * 2;
  }
};

class Deciding : public Tracer {
 public:
  bool to_bool(fx::Proxy&) override { return answer; }
  bool answer = true;
};

class Iterating : public Tracer {
 public:
  std::vector<Value> iter(fx::Proxy& proxy) override {
    const Value value = Value::proxy(&proxy);
    const Value first = getitem(value, 0);
    return {first, getitem(value, 1)};
  }
};

template <typename T>
nn::Ref<GraphModule> traced_by(Tracer& tracer, const nn::Ref<T>& module) {
  auto graph = tracer.trace(*module);
  return GraphModule::create(*module, std::move(graph));
}

nn::Ref<GraphModule> traced_by(Tracer& tracer, Value (*function)(Value)) {
  auto graph =
      tracer.trace({"f", {"x"}, [function](std::vector<Value> args) {
                      return function(args[0]);
                    }});
  return GraphModule::create(*tracer.root, std::move(graph));
}

MIRROR_CASE(Tracers, positional_and_keyword_packs) {
  const auto gm = symbolic_trace(
      [](Value args, Value kwargs) -> Value {
        const Value first = getitem(args, 0);
        return first + getitem(kwargs, "foo");
      },
      {"*args", "**kwargs"}, "M");
  expect_graph(gm);
  expect_code(gm);
  expect_value("result", gm->call({fill({3})}, {{"foo", fill({3}, 1)}}));
}

MIRROR_CASE(Tracers, retraced) {
  const auto gm = symbolic_trace(symbolic_trace(filled(TwoLayers::create())));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Tracers, buffers_as_proxies) {
  for (bool proxied : {false, true}) {
    Tracer tracer;
    tracer.proxy_buffer_attributes = proxied;
    const auto gm = traced_by(tracer, filled(WithBuffer::create()));
    expect_graph(gm);
    expect_code(gm);
    expect_outputs(gm, {fill({3})});
  }
}

MIRROR_CASE(Tracers, leaf_by_name) {
  LeftIsALeaf tracer;
  const auto gm = traced_by(tracer, filled(Halves::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Tracers, calls_of_modules_changed) {
  Doubling tracer;
  const auto gm = traced_by(tracer, filled(Halves::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Tracers, scopes_of_nodes) {
  Tracer tracer;
  const auto graph = tracer.trace(*filled(Halves::create()));
  ValueList scopes;
  for (const fx::Node* node : graph->nodes()) {
    const fx::Scope scope = tracer.scope_of(*node);
    scopes.push_back(
        Value::list({node->name(), scope.module_path, scope.module_type}));
  }
  expect_value("scopes", scopes);
}

MIRROR_CASE(Tracers, conditions_decided_by_the_tracer) {
  for (bool answer : {true, false}) {
    Deciding tracer;
    tracer.answer = answer;
    const auto gm = traced_by(tracer, [](Value x) -> Value {
      return method(x, "sum") > 0 ? x + 1 : x - 1;
    });
    expect_graph(gm);
    expect_code(gm);
  }
}

MIRROR_CASE(Tracers, iteration_decided_by_the_tracer) {
  Iterating tracer;
  const auto gm = traced_by(tracer, [](Value x) -> Value {
    ValueList items;
    for (const Value& y : fx::iterate(x)) items.push_back(y + 1);
    return Value::list(items);
  });
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Tracers, names_of_proxies) {
  ValueList seen;
  symbolic_trace(
      [&](Value x) -> Value {
        const auto note = [&](const Value& value) {
          seen.emplace_back(value.as_proxy()->describe());
        };
        note(x);
        note(x + 1);
        note(method(x, "relu"));
        return x;
      },
      {"x"});
  expect_value("seen", seen);
}

MIRROR_CASE(Tracers, constant_constructors) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return (x + ones({3})) * arange(3) + full({3}, 0.5);
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(Tracers, slices_with_proxies) {
  const auto gm = symbolic_trace(
      [](Value x, Value n) -> Value {
        const Value all = Value::slice(None, None);
        return Value::tuple(
            {getitem(x, Value::slice(n, None)),
             getitem(x, all, Value::slice(None, n)),
             getitem(x, n, Ellipsis, Value::slice(None, None, 2))});
      },
      {"x", "n"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({4, 4}), 2});
}

MIRROR_CASE(Tracers, shared_modules_and_parameters) {
  const auto gm = symbolic_trace(filled(Shared::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Tracers, parameter_shapes) {
  for (const char* fact :
       {"shape", "size", "dim", "ndim", "numel", "nelement"}) {
    Tracer tracer({.param_shapes_constant = true});
    const auto gm = traced_by(tracer, filled(ByShape::create(fact)));
    expect_graph(gm);
    expect_outputs(gm, {fill({4, 2})});
  }
  expect_error([] { symbolic_trace(ByShape::create("dim")); });
}

MIRROR_CASE(Tracers, proxies_on_a_graph) {
  auto graph = std::make_unique<fx::Graph>();
  const Value x = fx::proxy(graph->placeholder("x"));
  const Value y = fx::proxy(graph->placeholder("y"));
  const Value product = relu(operators::matmul(x, y));
  const Value z = product - getitem(fx::getattr(x, "shape"), 0);
  const Value quotient = 2 / z;
  const Value mean = method(y, "mean", {}, {{"dim", 0}});
  const Value w = quotient + getitem(mean, None);
  graph->output(
      Value::dict({{"z", fx::node_of(z)}, {"w", fx::node_of(w)}}));
  const auto gm = GraphModule::create(nn::Module("Module"), std::move(graph));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3, 3}, 1), fill({3, 3}, 2)});
}

MIRROR_CASE(Tracers, deep_chain_copied) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        for (int i = 0; i < 1500; ++i) x = relu(x);
        return x;
      },
      {"x"});
  const auto copied = gm->copy();
  expect_value("nodes", copied->graph().size());
  expect_value("same", copied->graph().str() == gm->graph().str());
  expect_value("last", copied->graph().output_node()->arg_node(0)->name());
}

MIRROR_CASE(Tracers, keys_of_a_proxy) {
  Tracer tracer;
  const auto gm = traced_by(tracer, [](Value x) -> Value {
    return method(x, "keys");
  });
  expect_graph(gm);
  expect_code(gm);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
