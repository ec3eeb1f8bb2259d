// Control flow in graphs: nodes that call branches and bodies.
#include "fxjit/fx/passes/split_module.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(ControlFlow)

namespace TEST_FILE {

using fx::GraphModule;

// What make_fx records of an operator: the overload, named after the operator.
Value aten(const std::string& overload, ValueList args) {
  auto& proxy = dynamic_cast<fx::Proxy&>(*args.at(0).as_proxy());
  return proxy.tracer().create_proxy(
      fx::Opcode::call_function, *fx::find_callable("torch.ops.aten." + overload),
      std::move(args), {}, overload.substr(0, overload.find('.')));
}

Value is_positive(const Value& x) {
  return aten("gt.Scalar", {aten("sum.default", {x}), 0});
}
Value plus(const Value& x, const Value& y) {
  return aten("add.Tensor", {x, y});
}
Value minus(const Value& x, const Value& y) {
  return aten("sub.Tensor", {x, y});
}
Value times(const Value& x, const Value& y) {
  return aten("mul.Tensor", {x, y});
}

const GraphModule& part(const nn::Ref<GraphModule>& module,
                        std::string_view path) {
  return dynamic_cast<const GraphModule&>(module->get_submodule(path));
}

Value magnitude(const Dims& sizes, double added = 0) {
  return abs(fill(sizes)) + added;
}

Value choose(Value x) {
  return cond(
      is_positive(x), [](Value x) { return plus(x, 1); },
      [](Value x) { return times(x, 2); }, {x});
}

Value choose_twice(Value x) {
  const Value y = choose(x);
  const Value pred = aten("gt.Scalar", {aten("sum.default", {y}), 9});
  return cond(
      pred, [](Value x) { return minus(x, 1); },
      [](Value x) { return times(x, 3); }, {y});
}

Value choose_inside(Value x) {
  const auto inner = [](Value x) {
    return cond(
        aten("gt.Scalar", {aten("sum.default", {x}), 5}),
        [](Value x) { return plus(x, 1); },
        [](Value x) { return minus(x, 1); }, {x});
  };
  return cond(is_positive(x), inner, [](Value x) { return times(x, 2); }, {x});
}

Value several(Value x) {
  const auto made = [](Value a, Value b) {
    return Value::dict({{"a", a}, {"b", Value::list({b})}});
  };
  return cond(
      is_positive(x),
      [made](Value x) {
        const Value sum = plus(x, 1);
        return made(sum, times(x, 2));
      },
      [made](Value x) {
        const Value difference = minus(x, 1);
        return made(difference, times(x, 3));
      },
      {x});
}

Value lifting(Value x, Value y, Value z) {
  return cond(
      is_positive(x), [y](Value x) { return plus(x, y); },
      [z](Value x) { return times(x, z); }, {x});
}

Value pair(const Value& a, const Value& b) { return Value::tuple({a, b}); }

Value repeat(Value i, Value x) {
  return while_loop(
      [](Value i, Value) { return aten("lt.Scalar", {i, 5}); },
      [](Value i, Value x) {
        const Value next = plus(i, 1);
        return pair(next, times(x, 2));
      },
      {i, x});
}

Value repeat_lifting(Value i, Value x, Value n, Value z) {
  return while_loop(
      [n](Value i, Value) { return aten("lt.Tensor", {i, n}); },
      [z](Value i, Value x) {
        const Value next = plus(i, 1);
        return pair(next, times(x, z));
      },
      {i, x});
}

Value scanned(Value c, Value x) {
  return scan(
      [](Value c, Value x) {
        const Value next = plus(c, x);
        return pair(next, times(c, x));
      },
      c, x);
}

Value mapped(Value x, Value y) {
  return fxjit::map([](Value x, Value y) { return times(x, y); }, x, {y});
}

template <typename F>
nn::Ref<GraphModule> traced(F function, std::vector<std::string> names) {
  std::vector<nn::ArgSpec> specs(names.begin(), names.end());
  return fx::symbolic_trace(function, nn::Signature(std::move(specs)),
                            "f");
}

Value scalar(int64_t value) { return Tensor::full({}, value, DType::i64); }

nn::Ref<GraphModule> by_hand() {
  auto graph = std::make_unique<fx::Graph>();
  const fx::NodePtr x = graph->placeholder("x");
  const fx::NodePtr pred = graph->placeholder("pred");
  const fx::NodePtr up = graph->get_attr("up");
  const fx::NodePtr down = graph->get_attr("down");
  const fx::NodePtr call = graph->call_function(
      *fx::find_callable("torch.ops.higher_order.cond"),
      {pred, up, down, Value::tuple({x})});
  const fx::NodePtr first =
      graph->call_function(ops::get_function("_operator.getitem"), {call, 0});
  graph->output(graph->call_function(ops::get_function("torch.neg"), {first}));
  nn::Module root("Hand");
  root.register_module("up", fx::symbolic_trace(
                                 [](Value x) { return Value::tuple({x + 1}); },
                                 {"x"}));
  root.register_module(
      "down",
      fx::symbolic_trace([](Value x) { return Value::tuple({x - 1}); }, {"x"}));
  return GraphModule::create(root, std::move(graph), "Hand");
}

bool is_neg(const fx::Node& node) {
  return node.target_name() == "torch.neg";
}

MIRROR_CASE(ControlFlow, cond_of_two_branches) {
  const auto gm = traced(choose, {"x_1"});
  expect_graph(gm);
  expect_code(gm);
  for (const char* name : {"true_graph_0", "false_graph_0"}) {
    expect_graph(part(gm, name).graph());
    expect_code(part(gm, name).graph());
  }
  expect_text("str", gm->str());
  expect_outputs(gm, {magnitude({2, 3})});
  expect_outputs(gm, {-magnitude({2, 3})});
}

MIRROR_CASE(ControlFlow, cond_with_several_results) {
  const auto gm = traced(several, {"x_1"});
  expect_graph(gm);
  expect_code(gm);
  for (const char* name : {"true_graph_0", "false_graph_0"}) {
    expect_graph(part(gm, name).graph());
    expect_code(part(gm, name).graph());
  }
  expect_outputs(gm, {magnitude({2, 3})});
  expect_outputs(gm, {-magnitude({2, 3})});
}

MIRROR_CASE(ControlFlow, cond_lifts_what_it_uses) {
  const auto gm = traced(lifting, {"x_1", "y_1", "z_1"});
  expect_graph(gm);
  expect_code(gm);
  for (const char* name : {"true_graph_0", "false_graph_0"}) {
    expect_graph(part(gm, name).graph());
    expect_code(part(gm, name).graph());
  }
  expect_outputs(gm, {fill({2, 3}), fill({3}, 1), fill({3}, 2)});
}

MIRROR_CASE(ControlFlow, cond_in_cond) {
  const auto gm = traced(choose_inside, {"x_1"});
  expect_graph(gm);
  expect_code(gm);
  for (const char* name :
       {"true_graph_0", "true_graph_0.true_graph_0",
        "true_graph_0.false_graph_0", "false_graph_0"}) {
    expect_graph(part(gm, name).graph());
    expect_code(part(gm, name).graph());
  }
  expect_outputs(gm, {magnitude({2, 3}, 3)});
  expect_outputs(gm, {magnitude({2, 3})});
  expect_outputs(gm, {-magnitude({2, 3})});
}

MIRROR_CASE(ControlFlow, one_cond_after_another) {
  const auto gm = traced(choose_twice, {"x_1"});
  expect_graph(gm);
  expect_code(gm);
  for (const char* name : {"true_graph_0", "true_graph_1"}) {
    expect_graph(part(gm, name).graph());
    expect_code(part(gm, name).graph());
  }
  expect_outputs(gm, {magnitude({2, 3}, 2)});
  expect_outputs(gm, {-magnitude({2, 3})});
}

MIRROR_CASE(ControlFlow, while_loop_over_two_tensors) {
  const auto gm = traced(repeat, {"i_1", "x_1"});
  expect_graph(gm);
  expect_code(gm);
  for (const char* name :
       {"while_loop_cond_graph_0", "while_loop_body_graph_0"}) {
    expect_graph(part(gm, name).graph());
    expect_code(part(gm, name).graph());
  }
  expect_outputs(gm, {scalar(0), fill({2, 3})});
  expect_outputs(gm, {scalar(4), fill({2, 3})});
  expect_outputs(gm, {scalar(7), fill({2, 3})});
}

MIRROR_CASE(ControlFlow, while_loop_lifts_what_it_uses) {
  const auto gm = traced(repeat_lifting, {"i_1", "x_1", "n_1", "z_1"});
  expect_graph(gm);
  expect_code(gm);
  for (const char* name :
       {"while_loop_cond_graph_0", "while_loop_body_graph_0"}) {
    expect_graph(part(gm, name).graph());
    expect_code(part(gm, name).graph());
  }
  expect_outputs(gm, {scalar(0), fill({2, 3}), scalar(3), fill({3}, 1)});
  expect_outputs(gm, {scalar(3), fill({2, 3}), scalar(3), fill({3}, 1)});
}

MIRROR_CASE(ControlFlow, scan_with_carry_and_stack) {
  const auto gm = traced(scanned, {"c_1", "x_1"});
  expect_graph(gm);
  expect_code(gm);
  expect_graph(part(gm, "scan_combine_graph_0").graph());
  expect_code(part(gm, "scan_combine_graph_0").graph());
  expect_outputs(gm, {fill({3}), fill({4, 3}, 1)});
  expect_outputs(gm, {fill({3}), fill({1, 3}, 1)});
}

MIRROR_CASE(ControlFlow, map_with_an_argument) {
  const auto gm = traced(mapped, {"x_1", "y_1"});
  expect_graph(gm);
  expect_code(gm);
  expect_graph(part(gm, "body_graph_0").graph());
  expect_code(part(gm, "body_graph_0").graph());
  expect_outputs(gm, {fill({4, 3}), fill({3}, 1)});
}

MIRROR_CASE(ControlFlow, associative_scan_of_sums) {
  auto graph = std::make_unique<fx::Graph>();
  const fx::NodePtr x = graph->placeholder("x");
  const fx::NodePtr combine = graph->get_attr("combine");
  graph->output(graph->call_function(
      *fx::find_callable("torch.ops.higher_order.associative_scan"),
      {combine, Value::list({x}), Value::tuple({})}));
  nn::Module root("M");
  root.register_module("combine", fx::symbolic_trace(
                                      [](Value a, Value b) {
                                        return Value::list({a + b});
                                      },
                                      {"a", "b"}));
  const auto gm = GraphModule::create(root, std::move(graph), "M");
  expect_graph(gm);
  expect_code(gm);
  expect_graph(part(gm, "combine").graph());
  expect_code(part(gm, "combine").graph());
  expect_outputs(gm, {fill({5, 2})});
  expect_outputs(gm, {fill({1, 2})});
}

MIRROR_CASE(ControlFlow, tools_leave_it_whole) {
  const auto gm = by_hand();
  gm->graph().lint();
  expect_graph(fx::Transformer(gm).transform());
  expect_graph(GraphModule::create(*gm, gm->graph().copy(), "GraphModule"));
  fx::Graph copy;
  fx::ValueMap map;
  copy.output(copy.graph_copy(gm->graph(), map));
  expect_graph(copy);
  expect_tabular(gm);
  const auto split = fx::passes::split_module(
      *gm, [](const fx::Node& node) { return is_neg(node) ? 1 : 0; });
  expect_graph(split);
  expect_graph(part(split, "submod_0").graph());
  expect_graph(part(split, "submod_1").graph());
  const Value yes = Tensor::full({}, true, DType::boolean);
  const Value no = Tensor::full({}, false, DType::boolean);
  expect_outputs(split, {fill({2, 3}), yes});
  expect_outputs(split, {fill({2, 3}), no});
  gm->graph().eliminate_dead_code();
  gm->recompile();
  expect_outputs(gm, {fill({2, 3}), no});
}

MIRROR_CASE(ControlFlow, replaced_inside) {
  const auto gm = by_hand();
  fx::replace_pattern(
      *gm, [](Value x) { return neg(x); },
      [](Value x) { return abs(x); });
  expect_graph(gm);
  auto& down = dynamic_cast<GraphModule&>(gm->get_submodule("down"));
  fx::replace_pattern(
      down, [](Value x) { return x - 1; }, [](Value x) { return x - 2; });
  expect_graph(down.graph());
  expect_outputs(gm, {fill({2, 3}), Tensor::full({}, false, DType::boolean)});
}

MIRROR_CASE(ControlFlow, wrong_calls) {
  const Value x = fill({2, 3});
  const auto module = [](auto function) {
    return fx::module_value(fx::symbolic_trace(function, {"x"}));
  };
  const Value down = module([](Value x) { return Value::tuple({x - 1}); });
  const Value many = module([](Value x) { return Value::tuple({x, x}); });
  const Value a_list = module([](Value x) { return Value::list({x}); });
  const Value small = module([](Value x) { return method(x, "sum") < 10; });
  const Value each = module([](Value x) { return x < 10; });
  const Value args = Value::tuple({x});
  const auto higher = [](const char* name, ValueList args) {
    fx::call_by_name("torch.ops.higher_order." + std::string(name),
                     std::move(args));
  };
  const Value none = Value::tuple({});
  expect_error([&] { higher("cond", {x, down, down, args}); });
  expect_error([&] { higher("while_loop", {each, down, args, none}); },
               " but got");
  expect_error([&] { higher("while_loop", {small, many, args, none}); });
  expect_error([&] { higher("while_loop", {small, a_list, args, none}); });
  const fx::Body same([](Value x) { return x; });
  const Value yes = Tensor::full({}, true, DType::boolean);
  expect_error([&] { cond(x > 0, same, same, {x}); }, ", but got");
  expect_error([&] { cond(yes, same, same, {3}); }, ", but got");
  expect_error([&] { cond("yes", same, same, {x}); }, ", but got");
  const fx::Body both(pair);
  expect_error([&] { scan(both, fill({3}), fill({0, 3})); });
  expect_error([&] { scan(both, Value::list({}), fill({2, 3})); });
  expect_error([&] { fxjit::map(same, fill({0, 3})); });
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
