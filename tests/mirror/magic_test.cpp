// Methods behind Python's syntax, called by name.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Magic)

namespace TEST_FILE {

using fx::Graph;
using fx::GraphModule;
using fx::Interpreter;
using fx::NodePtr;

nn::Ref<GraphModule> module_of(std::unique_ptr<Graph> graph) {
  return GraphModule::create(nn::Module(), std::move(graph));
}

std::string magic(const std::string& name) { return "__" + name + "__"; }

Tensor plus(const Tensor& tensor, double number) {
  return (Value(tensor) + number).as_tensor();
}

// `count` calls of each method that run between compiled parts.
OutputOptions interpreted(const std::vector<std::string>& names, size_t count) {
  OutputOptions options;
  for (const std::string& name : names)
    options.eager.insert(options.eager.end(), count, magic(name));
  return options;
}

MIRROR_CASE(Magic, operator_methods) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr y = graph->placeholder("y");
  ValueList results;
  for (const char* name :
       {"add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv",
        "div", "rdiv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow",
        "eq", "ne", "lt", "le", "gt", "ge"}) {
    results.emplace_back(graph->call_method(magic(name), {x, 2}));
    results.emplace_back(graph->call_method(magic(name), {x, y}));
  }
  for (const char* name : {"neg", "pos", "abs", "reversed"})
    results.emplace_back(graph->call_method(magic(name), {x}));
  const ValueList indices = {0,
                             -1,
                             Value::slice(None, None, 2),
                             Value::tuple({Ellipsis, 1}),
                             None,
                             Value::tuple({Value::slice(None, 1), None})};
  for (const Value& index : indices)
    results.emplace_back(graph->call_method("__getitem__", {x, index}));
  graph->output(Value::tuple(std::move(results)));
  const auto gm = module_of(std::move(graph));
  expect_code(gm);
  OutputOptions options = interpreted(
      {"rtruediv", "div", "rdiv", "rfloordiv", "rmod", "rpow"}, 2);
  options.eager.push_back("__reversed__");
  const Tensor x_value = plus(fill({4, 3}, 1), 2.0625);
  expect_outputs(gm, {x_value, plus(fill({3}, 2), 1.5625)}, options);
}

MIRROR_CASE(Magic, integer_methods) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr y = graph->placeholder("y");
  ValueList results;
  for (const char* name : {"and", "rand", "or", "ror", "xor", "rxor", "lshift",
                           "rlshift", "rshift", "rrshift"}) {
    results.emplace_back(graph->call_method(magic(name), {x, 2}));
    results.emplace_back(graph->call_method(magic(name), {x, y}));
  }
  results.emplace_back(graph->call_method("__invert__", {x}));
  graph->output(Value::tuple(std::move(results)));
  expect_outputs(module_of(std::move(graph)),
                 {fill({6}, 1, DType::i64), fill({6}, 2, DType::i64)},
                 interpreted({"rlshift", "rrshift"}, 2));
}

MIRROR_CASE(Magic, methods_in_place) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr y = graph->placeholder("y");
  ValueList results;
  auto change = [&](const std::string& method, ValueList args) {
    const NodePtr clone = graph->call_method("clone", {x});
    args.insert(args.begin(), clone);
    results.emplace_back(graph->call_method(method, std::move(args)));
    results.emplace_back(clone);
  };
  for (const char* name :
       {"iadd", "isub", "imul", "itruediv", "idiv", "ifloordiv", "imod"})
    change(magic(name), {y});
  const Value all = Value::slice(None, None);
  change("__setitem__", {0, 9.0});
  change("__setitem__", {Value::tuple({all, 1}), y});
  change("__setitem__", {Ellipsis, 2});
  change("__setitem__", {-1, y});
  change("__setitem__", {Value::tuple({1, Value::slice(0, 2)}), 0});
  change("__setitem__", {None, 3});
  change("__setitem__", {Value::list({0, 2}), 5});
  change("__setitem__", {Value::tuple({all, Value::list({2, 0})}), -1.5});
  const NodePtr mask = graph->call_method("__gt__", {x, 0});
  change("__setitem__", {mask, 7});
  graph->output(Value::tuple(std::move(results)));
  OutputOptions options;
  options.eager = {"__idiv__"};
  expect_outputs(module_of(std::move(graph)),
                 {fill({3, 3}, 1), plus(fill({3}, 2), 1.5625)}, options);
}

MIRROR_CASE(Magic, methods_that_give_numbers) {
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr n = graph->placeholder("n");
  ValueList results;
  for (const std::string name :
       {"len", "bool", "nonzero", "int", "float", "long", "index"})
    results.emplace_back(
        graph->call_method(magic(name), {name == "len" ? x : n}));
  results.emplace_back(graph->call_method("__contains__", {x, 3}));
  results.emplace_back(graph->call_method("__contains__", {x, n}));
  graph->output(Value::list(std::move(results)));
  const int64_t four = 4;
  expect_outputs(
      module_of(std::move(graph)),
      {fill({6}, 1, DType::i64),
       Tensor::from(std::span<const int64_t>(&four, 1), {1})},
      interpreted({"len", "bool", "nonzero", "int", "float", "long", "index",
                   "contains", "contains"},
                  1));
}

MIRROR_CASE(Magic, methods_of_containers) {
  auto graph = std::make_unique<Graph>();
  const NodePtr items = graph->placeholder("items");
  const NodePtr named = graph->placeholder("named");
  ValueList results;
  auto call = [&](const char* method, const ValueList& args) {
    results.emplace_back(graph->call_method(method, args));
  };
  call("__len__", {items});
  call("__getitem__", {items, -1});
  call("__contains__", {items, 2});
  call("index", {items, 2});
  call("count", {items, 2});
  call("__len__", {named});
  call("__getitem__", {named, "a"});
  call("__contains__", {named, "b"});
  call("get", {named, "b"});
  call("get", {named, "b", 5});
  call("get", {named, "a", 5});
  graph->output(Value::list(std::move(results)));
  const auto gm = module_of(std::move(graph));
  expect_value("results", Interpreter(*gm).run({Value::list({1, 2, 2, 3}),
                                                Value::dict({{"a", 1}})}));
}

MIRROR_CASE(Magic, methods_that_fail) {
  auto expect = [&](const char* method, ValueList args) {
    auto graph = std::make_unique<Graph>();
    args.insert(args.begin(), graph->placeholder("x"));
    graph->output(graph->call_method(method, std::move(args)));
    const auto gm = module_of(std::move(graph));
    expect_error([&] { Interpreter(*gm).run({fill({2, 3})}); });
  };
  expect("__foo__", {});
  expect("__call__", {1});
  expect("__imatmul__", {1});
  expect("__bool__", {});
  expect("__int__", {});
  expect("__float__", {});
  expect("__index__", {});
  expect("__contains__", {"a"});
  expect("__setitem__", {0, None});
  expect("__setitem__", {5, 1});
  expect("__setitem__", {0, "a"});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
