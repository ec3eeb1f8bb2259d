// Functions as leaves of traces: wrap, autowrap, and what survives transforms.
#include "fxjit/fx/math.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Wrapping)

namespace TEST_FILE {

using fx::symbolic_trace;
using fx::Transformer;

const fx::Wrapped& a_lifted_leaf() {
  static const fx::Wrapped wrapped =
      fx::wrap("cases_wrapping.a_lifted_leaf", [](Value a, Value b) -> Value {
        return getitem(a, 0) + getitem(a, 1) + b;
      });
  return wrapped;
}

const fx::Wrapped& scaled() {
  static const fx::Wrapped wrapped = fx::wrap(
      "cases_wrapping.scaled",
      [](const ValueList& args, const Kwargs& kwargs) -> Value {
        Value factor = args.size() > 1 ? args[1] : Value(1.0);
        if (!kwargs.empty()) factor = kwargs[0].second;
        return args.at(0) * factor;
      });
  return wrapped;
}

Value not_wrapped(Value x) { return x * 2 + 1; }

MIRROR_CASE(Wrapping, recorded_with_nested_proxies) {
  const auto gm = symbolic_trace(
      [](Value y) -> Value {
        const auto& leaf = a_lifted_leaf();
        const Value first = leaf(Value::tuple({4, y}), 3);
        const Value second = first + leaf(Value::tuple({3, 4}), 5);
        const Value third = leaf(Value::tuple({y, y}), y);
        return second + third;
      },
      {"y"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {2}, {.eager = {"cases_wrapping.a_lifted_leaf", "cases_wrapping.a_lifted_leaf"}});
  expect_value("eager", a_lifted_leaf()(Value::tuple({3, 4}), 5));
}

MIRROR_CASE(Wrapping, keywords) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value plain = scaled()(x);
        return plain + scaled()(x, kw("factor", 2.5));
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_tabular(gm);
  expect_outputs(gm, {fill({3})},
                 {.eager = {"cases_wrapping.scaled", "cases_wrapping.scaled"}});
}

MIRROR_CASE(Wrapping, retraced) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return method(scaled()(x, 3.0), "neg"); }, {"x"});
  const auto again = symbolic_trace(gm);
  expect_graph(again);
  expect_code(again);
  expect_outputs(again, {fill({3})}, {.eager = {"cases_wrapping.scaled"}});
}

MIRROR_CASE(Wrapping, transformed) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return method(scaled()(x, 3.0), "neg"); }, {"x"});
  const auto again = Transformer(gm).transform();
  expect_graph(again);
  expect_code(again);
  expect_outputs(again, {fill({3})}, {.eager = {"cases_wrapping.scaled"}});
}

MIRROR_CASE(Wrapping, not_wrapped_is_traced_through) {
  const auto gm =
      symbolic_trace([](Value x) -> Value { return not_wrapped(x); }, {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3})});
}

MIRROR_CASE(Wrapping, math_functions) {
  namespace math = fx::math;
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value root = math::sqrt(x);
        const Value sum = root + math::floor(x) * math::pi;
        const Value square = math::pow(x, 2);
        return Value::tuple({sum, square, math::sqrt(2.25)});
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {6.25});
}

MIRROR_CASE(Wrapping, unused_calls_are_removed) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        scaled()(x, 2);
        return x + 1;
      },
      {"x"});
  expect_value("changed", gm->graph().eliminate_dead_code());
  expect_graph(gm);
}

MIRROR_CASE(Wrapping, marked_as_wrapped) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return method(scaled()(x), "neg"); }, {"x"});
  ValueList wrapped;
  for (const fx::Node* node : gm->graph().nodes()) {
    const Value* const mark = node->meta().find("is_wrapped");
    wrapped.push_back(
        Value::list({node->name(), mark ? *mark : Value(false)}));
  }
  expect_value("wrapped", wrapped);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
