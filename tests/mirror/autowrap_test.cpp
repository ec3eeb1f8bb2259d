// Functions as leaves: wrap, autowrap, Python's math and builtins.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Autowrap)

namespace TEST_FILE {

using fx::symbolic_trace;

fx::Wrapped scaled() {
  return fx::wrap(
      "cases_autowrap.scaled",
      [](const ValueList& args, const Kwargs& kwargs) -> Value {
        const Value by = kwargs.empty() ? Value(2) : kwargs[0].second;
        const Value& x = args[0];
        return x.is_int() ? Value(x.as_int() * by.as_int() + 1) : x * by + 1;
      });
}

fx::Wrapped of_pair() {
  return fx::wrap("cases_autowrap.of_pair", [](Value pair, Value key) -> Value {
    return pair.at(0) + *pair.at(1).find(key.as_string());
  });
}

fx::Wrapped run_through() {
  return fx::global_function("cases_autowrap.run_through",
                             [](Value x) -> Value { return relu(x) + 1; });
}

template <typename F>
fx::TracedFunction of_x(F f) {
  return {"f", {"x"}, [f](std::vector<Value> bound) -> Value {
            return f(bound[0]);
          }};
}

MIRROR_CASE(Autowrap, kept_call) {
  const auto gm = symbolic_trace(of_x(
      [](Value x) -> Value { return scaled()(x, kw("by", 3)) + scaled()(2); }));
  expect_graph(gm);
  expect_code(gm);
  expect_value("called", gm(fill({3})));
}

MIRROR_CASE(Autowrap, nested_proxies) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        return of_pair()(Value::tuple({x, Value::dict({{"k", y}})}), "k");
      },
      {"x", "y"}, "f");
  expect_graph(gm);
  expect_code(gm);
}

MIRROR_CASE(Autowrap, retraced_and_transformed) {
  const auto gm =
      symbolic_trace(of_x([](Value x) -> Value { return scaled()(x); }));
  expect_code(symbolic_trace(gm));
  expect_code(fx::Transformer(gm).transform());
}

MIRROR_CASE(Autowrap, math_by_default) {
  const auto gm = symbolic_trace(of_x([](Value x) -> Value {
    return fx::math::floor(method(x, "size", {0})) + fx::math::sqrt(16);
  }));
  expect_graph(gm);
  expect_code(gm);
  expect_value("called", gm(fill({3})));
}

MIRROR_CASE(Autowrap, builtins) {
  fx::Tracer tracer({.autowrap_functions = {"len"}});
  auto graph = tracer.trace(of_x([](Value x) -> Value {
    const Value sum = method(x, "sum");
    return sum / fx::len(x);
  }));
  const auto gm = fx::GraphModule::create(*tracer.root, std::move(graph));
  expect_graph(gm);
  expect_code(gm);
  expect_value("called", gm(fill({4})));
}

MIRROR_CASE(Autowrap, functions_on_request) {
  const auto root = of_x([](Value x) -> Value { return run_through()(x); });
  expect_graph(*fx::Tracer().trace(root));
  fx::Tracer wrapping({.autowrap_functions = {"cases_autowrap.run_through"}});
  expect_graph(*wrapping.trace(root));
  expect_error([] {
    fx::Tracer({.autowrap_modules = {}}).trace(of_x([](Value x) -> Value {
      return fx::math::sqrt(x);
    }));
  });
}

MIRROR_CASE(Autowrap, marked_nodes) {
  const auto gm = symbolic_trace(of_x([](Value x) -> Value {
    return scaled()(fx::math::sqrt(method(x, "sum"))) * 2;
  }));
  std::string marks;
  for (const fx::Node* node : gm->graph().nodes())
    marks += (marks.empty() ? "" : "\n") + std::string(node->name()) + ": " +
             (node->meta().contains("is_wrapped") ? "True" : "False");
  expect_text("marks", marks);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
