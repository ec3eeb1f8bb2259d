// What cannot be traced, and with which words it is refused.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(TraceErrors)

namespace TEST_FILE {

using fx::symbolic_trace;

class Branching : public nn::Custom<Branching> {
 public:
  Branching() : Custom("Inner", {"x"}) {}
  Value forward(Value x) {
    return getitem(fx::getattr(x, "shape"), 0) > 1 ? x : -x;
  }
};

class Outer : public nn::Custom<Outer> {
 public:
  Outer() : Custom("Outer", {"x"}) {
    inner = register_module("inner", Branching::create());
  }
  Value forward(Value x) { return inner(x); }
  nn::Ref<Branching> inner;
};

class Returning : public nn::Custom<Returning> {
 public:
  Returning() : Custom("M", {"x"}) {}
  Value forward(Value x) { return x; }
};

class CallsOutside : public nn::Custom<CallsOutside> {
 public:
  CallsOutside() : Custom("M", {"x"}) {}
  Value forward(Value x) { return outside(x); }
  nn::Ref<nn::Linear> outside = nn::Linear::create(2, 2);
};

class ReadsOutside : public nn::Custom<ReadsOutside> {
 public:
  ReadsOutside() : Custom("M", {"x"}) {}
  Value forward(Value x) { return x + outside; }
  nn::Parameter outside{Tensor::zeros({2})};
};

MIRROR_CASE(TraceErrors, branch) {
  expect_error([] {
    symbolic_trace(
        [](Value x) -> Value { return method(x, "sum") > 0 ? x : -x; }, {"x"});
  });
}

MIRROR_CASE(TraceErrors, while_loop) {
  expect_error([] {
    symbolic_trace(
        [](Value x) -> Value {
          while (method(x, "any")) x = x - 1;
          return x;
        },
        {"x"});
  });
}

MIRROR_CASE(TraceErrors, logic_operators) {
  expect_error([] {
    symbolic_trace([](Value x, Value y) -> Value { return x && y; },
                   {"x", "y"});
  });
  expect_error([] {
    symbolic_trace([](Value x) -> Value { return !x; }, {"x"});
  });
}

MIRROR_CASE(TraceErrors, python_assert) {
  expect_error([] {
    symbolic_trace(
        [](Value x) -> Value {
          fx::check(method(x, "sum") == 0);
          return x;
        },
        {"x"});
  });
}

MIRROR_CASE(TraceErrors, iteration) {
  expect_error([] {
    symbolic_trace(
        [](Value x) -> Value { return Value::list(fx::iterate(x)); }, {"x"});
  });
}

MIRROR_CASE(TraceErrors, length) {
  expect_error([] {
    symbolic_trace([](Value x) -> Value { return x / fx::len(x); }, {"x"});
  });
}

MIRROR_CASE(TraceErrors, condition_inside_a_module) {
  expect_error([] { symbolic_trace(Outer::create()); });
  try {
    symbolic_trace(Outer::create());
  } catch (const TraceError& error) {
    EXPECT_EQ(error.context().module_path, "inner");
    EXPECT_TRUE(error.context().source.file.ends_with("trace_errors_test.cpp"));
  }
}

MIRROR_CASE(TraceErrors, unknown_argument) {
  class Thing : public Counted {};
  fx::Tracer tracer;
  fx::Graph graph;
  tracer.graph = &graph;
  expect_error([&] { tracer.create_arg(Value::opaque(new Thing)); });
}

MIRROR_CASE(TraceErrors, two_tracers) {
  fx::Tracer first, second;
  fx::Graph graph, other;
  first.graph = &graph;
  second.graph = &other;
  const Value a = first.create_proxy(fx::Opcode::placeholder, "x", {}, {});
  const Value b = second.create_proxy(fx::Opcode::placeholder, "x", {}, {});
  expect_error([&] { add(a, b); }, " [");
}

MIRROR_CASE(TraceErrors, traced_func_name) {
  fx::Tracer tracer;
  tracer.traced_func_name = "other";
  const auto module = Returning::create();
  expect_error([&] { tracer.trace(*module); });
}

MIRROR_CASE(TraceErrors, module_outside_of_the_root) {
  expect_error([] { symbolic_trace(CallsOutside::create()); });
}

MIRROR_CASE(TraceErrors, parameter_outside_of_the_root) {
  expect_error([] { symbolic_trace(ReadsOutside::create()); });
}

MIRROR_CASE(TraceErrors, node_in_a_dict_key) {
  expect_error([] {
    symbolic_trace([](Value x) -> Value { return Value::dict({{x, 3}}); },
                   {"x"});
  });
}

MIRROR_CASE(TraceErrors, missing_attribute) {
  expect_error([] {
    auto graph = std::make_unique<fx::Graph>();
    graph->output(graph->get_attr("a.b.c"));
    fx::GraphModule::create(*Returning::create(), std::move(graph));
  });
}

MIRROR_CASE(TraceErrors, missing_in_a_dict) {
  expect_error([] {
    auto graph = std::make_unique<fx::Graph>();
    const fx::NodePtr x = graph->placeholder("x");
    graph->output(graph->call_module("foo.bar", {x}));
    fx::GraphModule(nn::AttributeMap{}, std::move(graph));
  });
}

MIRROR_CASE(TraceErrors, traced_assertion) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        fx::torch_assert(method(x, "sum") > 0, "assert_foobar");
        return x * 2;
      },
      {"x"});
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {Tensor::full({3}, 1)}, {.eager = {"torch._assert"}});
  expect_error([&] { gm(Tensor::full({3}, -1)); });
}

MIRROR_CASE(TraceErrors, not_enough_arguments) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return x + y; }, {"x", "y"});
  expect_error([&] { fx::Interpreter(*gm).run({Tensor::full({2}, 1)}); });
}

MIRROR_CASE(TraceErrors, failing_node) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return method(matmul(x, y), "relu"); },
      {"x", "y"});
  expect_error(
      [&] { fx::Interpreter(*gm).run({fill({2, 3}), fill({2, 3})}); });
}

MIRROR_CASE(TraceErrors, default_iteration_of_star_args) {
  expect_error([] {
    symbolic_trace(
        [](Value x) -> Value {
          const auto ab = fx::iterate(x);
          return ab[0] + ab[1];
        },
        {"x"});
  });
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
