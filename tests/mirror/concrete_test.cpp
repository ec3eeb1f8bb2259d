// Arguments fixed while tracing; containers taken apart (concrete_args).
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Concrete)

namespace TEST_FILE {

using fx::PH;
using fx::symbolic_trace;

Value add_parts(Value x, Value y) {
  Value total = y;
  for (const auto& [key, part] : x.as_dict()) total = total + part;
  return Value::dict({{"sum", total}, {"parts", Value::tuple({total, y})}});
}

nn::Ref<fx::GraphModule> traced_parts() {
  return symbolic_trace(add_parts, {"x", "y"}, "add_parts",
                        {{"x", Value::dict({{"a", PH()}, {"b", PH()}})}});
}

class Adder : public nn::Custom<Adder> {
 public:
  Adder() : Custom("Adder", {"x", "flag"}) {
    w = register_parameter("w", Tensor::zeros({3}));
  }
  Value forward(Value x, Value flag) {
    return flag ? x.at(0) + x.at(1) + w : x.at(0);
  }
  nn::Parameter w;
};

class Variadic : public nn::Custom<Variadic> {
 public:
  Variadic() : Custom("Variadic", {"*args"}) {}
  Value forward(Value args) { return args.at(0) + args.at(1); }
};

fx::TracedFunction function(nn::Signature signature,
                            std::function<Value(std::vector<Value>)> run) {
  return {"f", std::move(signature), std::move(run)};
}

MIRROR_CASE(Concrete, dict_of_symbols) {
  const auto gm = traced_parts();
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(
      gm, {Value::dict({{"a", fill({3})}, {"b", fill({3}, 1)}}), fill({3}, 2)});
}

MIRROR_CASE(Concrete, order_of_keys) {
  const auto gm = traced_parts();
  const Value swapped = Value::dict({{"b", fill({3}, 1)}, {"a", fill({3})}});
  expect_value("swapped", gm(swapped, fill({3}, 2)));
  expect_error([&] { gm(Value::dict({{"b", fill({3}, 1)}}), fill({3}, 2)); });
}

MIRROR_CASE(Concrete, tuple_into_a_module) {
  const auto gm =
      symbolic_trace(filled(Adder::create()),
                     {{"x", Value::tuple({PH(), PH()})}, {"flag", true}});
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  const Value x = Value::tuple({fill({3}), fill({3}, 1)});
  expect_value("called", gm(x, true));
  expect_error([&] { fx::Interpreter(*gm).run({x, false}); });
}

MIRROR_CASE(Concrete, nested_containers) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value& a = *x.find("a");
        return Value::list(
            {a.at(0) * a.at(1), Value::dict({{"b", *x.find("b")}})});
      },
      {"x"}, "f",
      {{"x", Value::dict({{"a", Value::list({PH(), PH()})},
                          {"b", Value::tuple({PH()})}})}});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm,
                 {Value::dict({{"a", Value::list({fill({2}), fill({2}, 1)})},
                               {"b", Value::tuple({fill({2}, 2)})}})});
}

MIRROR_CASE(Concrete, specialised_leaves) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        return x.at(0) * x.at(1) + (x.at(2).is_none() ? 0 : 1);
      },
      {"x"}, "f", {{"x", Value::list({PH(), 3, None})}});
  expect_graph(gm);
  expect_code(gm);
  expect_value("called", gm(Value::list({fill({3}), 3, None})));
  expect_error(
      [&] { fx::Interpreter(*gm).run({Value::list({fill({3}), 4, None})}); });
  expect_error(
      [&] { fx::Interpreter(*gm).run({Value::list({fill({3}), 3, 1})}); });
}

MIRROR_CASE(Concrete, empty_container) {
  const auto gm = symbolic_trace([](Value, Value y) -> Value { return y; },
                                 {"x", "y"}, "f", {{"x", Value::list({})}});
  expect_graph(gm);
  expect_code(gm);
  expect_value("called", gm(Value::list({}), fill({2})));
}

MIRROR_CASE(Concrete, scalars) {
  const auto gm = symbolic_trace(
      [](Value x, Value n, Value, Value, Value) -> Value { return x * n; },
      {"x", "n", "s", "q", "flag"}, "f",
      {{"n", 2.5}, {"s", "text"}, {"q", None}, {"flag", false}});
  expect_graph(gm);
  expect_code(gm);
  expect_value("called", gm(fill({3}), 2.5, "text", None, false));
  expect_error(
      [&] { fx::Interpreter(*gm).run({fill({3}), 2.0, "text", None, false}); });
  expect_error([&] {
    fx::Interpreter(*gm).run({fill({3}), 2.5, "other", None, false});
  });
  expect_error(
      [&] { fx::Interpreter(*gm).run({fill({3}), 2.5, "text", 0, false}); });
}

MIRROR_CASE(Concrete, by_position) {
  const auto f = function({"x", "flag"}, [](std::vector<Value> a) {
    return a[1] ? a[0] + 1 : a[0];
  });
  fx::Tracer tracer;
  const auto graph = tracer.trace(f, fx::concrete_tuple({PH(), true}));
  expect_graph(*graph);
  expect_code(*graph);
  expect_error([&] { fx::Tracer().trace(f, fx::concrete_tuple({PH()})); });
}

MIRROR_CASE(Concrete, variadic_by_position) {
  fx::Tracer tracer;
  const auto variadic = Variadic::create();
  auto graph = tracer.trace(*variadic, fx::concrete_tuple({PH(), PH()}));
  expect_graph(*graph);
  expect_outputs(fx::GraphModule::create(*tracer.root, std::move(graph)),
                 {fill({2}), fill({2}, 1)});
  expect_error([] {
    fx::Tracer().trace(
        function({"*args"}, [](std::vector<Value> a) { return a[0].at(0); }),
        fx::concrete_tuple({PH(), PH()}));
  });
}

MIRROR_CASE(Concrete, not_asserted) {
  expect_warning([] {
    symbolic_trace([](Value x, Value) -> Value { return x; }, {"x", "t"}, "f",
                   {{"t", Value::slice(1, 2)}});
  });
}

MIRROR_CASE(Concrete, transformed_and_interpreted) {
  const auto gm = traced_parts();
  const auto changed = fx::Transformer(gm).transform();
  expect_code(changed);
  const Value x = Value::dict({{"a", fill({3})}, {"b", fill({3}, 1)}});
  expect_value("transformed", changed(x, fill({3}, 2)));
  expect_value("interpreted", fx::Interpreter(*gm).run({x, fill({3}, 2)}));
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
