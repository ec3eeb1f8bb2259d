// Tracing of modules and functions: what is recorded, under which names.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Trace)

namespace TEST_FILE {

using fx::symbolic_trace;

class Sub : public nn::Custom<Sub> {
 public:
  Sub() : Custom("Sub", {"x"}) {
    w = register_parameter("w", Tensor::zeros({2, 3}));
  }
  Value forward(Value x) { return w + x; }
  nn::Parameter w;
};

class Top : public nn::Custom<Top> {
 public:
  Top() : Custom("Top", {"a", "b", {"c", 3.0}, "*args", "**kwargs"}) {
    lin = register_module("lin", nn::Linear::create(4, 3));
    sub_mod = register_module("sub_mod", Sub::create());
    w = register_parameter("w", Tensor::zeros({3}));
  }
  Value forward(Value a, Value b, Value c, Value, Value) {
    const Value e = relu(lin(a));
    const Value f = sub_mod(e + b) + w + c;
    return sigmoid(f) * e;
  }
  nn::Ref<nn::Linear> lin;
  nn::Ref<Sub> sub_mod;
  nn::Parameter w;
};

class Square : public nn::Custom<Square> {
 public:
  Square() : Custom("M", {"x"}) {
    c = register_parameter("c", Tensor::zeros({3, 3}));
  }
  Value forward(Value x) {
    const Value right = operators::matmul(x, c);
    return Value::tuple({right, operators::matmul(c, x)});
  }
  nn::Parameter c;
};

class Stack : public nn::Custom<Stack> {
 public:
  Stack() : Custom("M", {"x"}) {
    seq = register_module(
        "seq",
        nn::Sequential::create(nn::Linear::create(4, 4), nn::ReLU::create()));
  }
  Value forward(Value x) { return seq(x); }
  nn::Ref<nn::Sequential> seq;
};

class Looping : public nn::Custom<Looping> {
 public:
  Looping() : Custom("M", {"x"}) {
    layers = register_module("layers",
                             nn::Sequential::create(nn::Linear::create(3, 3),
                                                    nn::Linear::create(3, 3),
                                                    nn::Linear::create(3, 3)));
  }
  Value forward(Value x) {
    for (int i = 0; i < 3; ++i) {
      x = (*layers)[i](x) * 0.5;
      if (i < 2) x = tanh(x);
    }
    return layers(x);
  }
  nn::Ref<nn::Sequential> layers;
};

class Inner : public nn::Custom<Inner> {
 public:
  Inner() : Custom("Inner", {"x"}) {
    conv = register_module("conv", nn::Linear::create(3, 3));
  }
  Value forward(Value x) { return method(conv(x), "neg"); }
  nn::Ref<nn::Linear> conv;
};

class Thrice : public nn::Custom<Thrice> {
 public:
  Thrice() : Custom("M", {"x"}) {
    sub = register_module("sub", Inner::create());
  }
  Value forward(Value x) {
    const Value twice = sub(sub(x));
    return twice - sub(x);
  }
  nn::Ref<Inner> sub;
};

class NoInPlace : public fx::Tracer {
 public:
  fx::NodePtr create_node(fx::Opcode kind, const fx::Target& target,
                          ValueList args, Kwargs kwargs, std::string_view name,
                          const Value& type) override {
    if (target.text().ends_with("_"))
      throw RuntimeError("In-place operations are not supported");
    return Tracer::create_node(kind, target, std::move(args), std::move(kwargs),
                               name, type);
  }
};

class Tagging : public fx::Tracer {
 public:
  fx::NodePtr create_node(fx::Opcode kind, const fx::Target& target,
                          ValueList args, Kwargs kwargs, std::string_view name,
                          const Value& type) override {
    const fx::NodePtr node = Tracer::create_node(kind, target, std::move(args),
                                                 std::move(kwargs), name, type);
    node->meta().set("tag", "foo");
    return node;
  }
};

class NoLeaves : public fx::Tracer {
 public:
  bool is_leaf_module(const nn::Module&, std::string_view) const override {
    return false;
  }
};

MIRROR_CASE(Trace, nested_modules) {
  const auto gm = symbolic_trace(filled(Top::create()));
  gm->graph().lint();
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  const auto fixed = symbolic_trace(
      [](Value a, Value b, Value c) -> Value {
        const Value head =
            getitem(a, Value::slice(None, None), Value::slice(None, 3));
        return head + b * c;
      },
      {"a", "b", {"c", 3.0}});
  expect_outputs(fixed, {fill({2, 4}), fill({2, 3})});
}

MIRROR_CASE(Trace, dict_in_and_out) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value a = getitem(x, "b") + 1;
        return Value::dict(
            {{"a", a}, {"c", Value::tuple({getitem(x, "b"), 3})}});
      },
      {"x"}, "M");
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {Value::dict({{"b", fill({3})}})});
}

MIRROR_CASE(Trace, ellipsis) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        return x + getitem(y, Value::slice(None, None), Value::slice(1, 10),
                           Ellipsis);
      },
      {"x", "y"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({5, 9, 3, 4}), fill({5, 15, 3, 4}, 1)});
}

MIRROR_CASE(Trace, matmul_both_ways) {
  const auto gm = symbolic_trace(filled(Square::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3, 3})});
}

MIRROR_CASE(Trace, shifts) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return Value::tuple({x << 3, x >> 1, 2 << x, 64 >> x});
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({6}, 1, DType::i64)});
}

MIRROR_CASE(Trace, bits) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        return Value::tuple({x & y, x | 12, 3 ^ x, ~y});
      },
      {"x", "y"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({6}, 1, DType::i64), fill({6}, 2, DType::i64)});
}

MIRROR_CASE(Trace, every_operator) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        return Value::tuple({x + y, x - y, x * y, x / y,
                             operators::floordiv(x, y), x % y,
                             operators::pow(x, 2), -x, +x, x<y, x <= y, x> y,
                             x >= y, x == y, x != y, operators::abs(x)});
      },
      {"x", "y"});
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  const Value y = fill({5}, 4);
  expect_outputs(gm, {fill({5}, 3), y + 2});
}

MIRROR_CASE(Trace, every_reflected_operator) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return Value::tuple({2 + x, 2 - x, 2 * x, 2 / x,
                             operators::floordiv(7, x), 7 % x,
                             operators::pow(2, x), 1 < x, 1 >= x, 1 == x});
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  const Value x = fill({5}, 4);
  expect_outputs(gm, {x + 2.5});
}

MIRROR_CASE(Trace, rebinding_operators) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        x -= y;
        x += 1;
        x *= y;
        x /= 3;
        return x;
      },
      {"x", "y"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({4}), fill({4}, 5)});
}

MIRROR_CASE(Trace, refused_by_a_hook) {
  const auto trace = [](Value (*function)(Value)) {
    NoInPlace tracer;
    return tracer.trace({"f", {"x"}, [function](std::vector<Value> a) {
                           return function(a[0]);
                         }});
  };
  expect_error([&] {
    trace([](Value x) -> Value {
      method(x, "add_", {1});
      return x;
    });
  });
  expect_graph(*trace(
      [](Value x) -> Value { return method(method(x, "log"), "add", {1}); }));
}

MIRROR_CASE(Trace, no_leaves) {
  const auto mod = filled(Stack::create());
  NoLeaves tracer;
  auto graph = tracer.trace(*mod);
  const auto gm = fx::GraphModule::create(*mod, std::move(graph));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 4})});
}

MIRROR_CASE(Trace, unpacking) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const auto ab = fx::unpack(x, 2);
        const auto cde = fx::unpack(method(ab[1], "split", {1}), 3);
        const Value first = ab[0] + cde[0];
        return Value::tuple({first, cde[1] * cde[2]});
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {Value::tuple({fill({1}), fill({3})})});
}

MIRROR_CASE(Trace, reserved_getattr) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return fx::getattr(fx::getattr(fx::getattr(x, "foo"), "bar"), "baz");
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  ValueList names;
  for (const fx::Node* node : gm->graph().nodes())
    names.emplace_back(node->name());
  expect_value("names", names);
}

MIRROR_CASE(Trace, tagged_nodes) {
  Tagging tracer;
  const auto graph = tracer.trace({"f", {"a", "b"}, [](std::vector<Value> a) {
                                     const Value left = relu(a[0]);
                                     return left + method(a[1], "neg");
                                   }});
  ValueList tags;
  for (const fx::Node* node : graph->nodes())
    tags.push_back(Value::list({node->name(), node->meta().at("tag")}));
  expect_value("tags", tags);
}

MIRROR_CASE(Trace, tensor_attribute_used_twice) {
  const Tensor shared = fill({3}, 1);
  const Tensor other = fill({3}, 1);
  for (const Tensor& second : {shared, other}) {
    const auto gm = symbolic_trace(
        [&](Value x) -> Value { return x + shared + second; }, {"x"});
    expect_graph(gm);
    expect_code(gm);
    expect_outputs(gm, {fill({3})});
  }
}

MIRROR_CASE(Trace, constant_of_a_function) {
  const Tensor bias = fill({4}, 3);
  const auto gm =
      symbolic_trace([&](Value x) -> Value { return relu(x + bias); }, {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({4})});
}

MIRROR_CASE(Trace, attributes) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value unused = fx::getattr(x, "unused");
        const Value n = getitem(fx::getattr(x, "shape"), 0);
        const Value view = method(x, "view", {n, -1});
        const Value dtype = fx::getattr(x, "dtype");
        return Value::tuple({view, dtype, fx::getattr(x, "T")});
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
}

MIRROR_CASE(Trace, calling_a_proxy) {
  const auto gm = symbolic_trace(
      [](Value f, Value x) -> Value {
        return method(f, "__call__", {x, 2}, {{"scale", 3}});
      },
      {"f", "x"});
  expect_graph(gm);
  expect_code(gm);
}

MIRROR_CASE(Trace, static_loop_and_sequential) {
  const auto gm = symbolic_trace(filled(Looping::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
}

MIRROR_CASE(Trace, module_called_twice) {
  const auto gm = symbolic_trace(filled(Thrice::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 3})});
  ValueList stacks;
  for (const fx::Node* node : gm->graph().nodes()) {
    ValueList row{node->name()};
    if (node->module_stack())
      for (const fx::ModuleFrame& frame : *node->module_stack())
        row.emplace_back(frame.path);
    stacks.push_back(Value::list(row));
  }
  expect_value("stacks", stacks);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
