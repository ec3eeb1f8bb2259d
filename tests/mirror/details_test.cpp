// Texts and small rules: what stands in graphs, errors of edits, and calls of
// modules that lost a part.
#include <cmath>

#include "fxjit/fx/passes.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Details)

namespace TEST_FILE {

namespace F = nn::functional;
using fx::Graph;
using fx::GraphModule;
using fx::NodePtr;
using fx::Opcode;
using fx::symbolic_trace;

struct Net : nn::Custom<Net> {
  Net() : Custom("Net", {"x"}) {
    lin = register_module("lin", nn::Linear::create(3, 4));
    seq = register_module(
        "seq",
        nn::Sequential::create(nn::Linear::create(3, 3), nn::ReLU::create()));
    scale = register_parameter("scale", Tensor::zeros({4}));
  }
  Value forward(Value x) { return lin(seq(x)) * scale; }
  nn::Ref<nn::Linear> lin;
  nn::Ref<nn::Sequential> seq;
  nn::Parameter scale;
};

struct Trees : nn::Custom<Trees> {
  Trees() : Custom("Trees", {"d", "y"}) {}
  Value forward(Value d, Value y) {
    return Value::dict({{"sum", getitem(d, "a") + getitem(getitem(d, "b"), 0)},
                        {"y", Value::list({y})}});
  }
};

struct Strict : fx::Tracer {
  Strict() { check_mutable_operations = true; }
  std::unique_ptr<Graph> of(std::function<Value(Value)> call) {
    return trace(fx::TracedFunction{
        "call", nn::Signature({"x"}),
        [&](std::vector<Value> bound) { return call(bound[0]); }});
  }
};

Tensor numbers(std::vector<double> values, DType dtype = DType::f32) {
  const Tensor wide =
      Tensor::empty({static_cast<int64_t>(values.size())}, DType::f64);
  std::copy(values.begin(), values.end(), wide.data_as<double>());
  return wide.to(dtype);
}

Tensor scalar(double value, DType dtype) {
  return Tensor::full({}, value, dtype);
}

std::unique_ptr<Graph> holder_of(ValueList values) {
  auto graph = std::make_unique<Graph>();
  values.insert(values.begin(), Value(graph->placeholder("x")));
  graph->call_function("torch.add", std::move(values));
  graph->output(None);
  return graph;
}

MIRROR_CASE(Details, functions_without_a_module) {
  const fx::Wrapped my_op =
      fx::wrap("my_op", [](Value x) -> Value { return x + 1; });
  const auto gm = symbolic_trace(
      [&](Value x) -> Value { return my_op(my_op(x)) * 2; }, {"x"});
  expect_graph(gm);
  expect_code(gm);
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("my_op");
  graph->output(graph->call_function(my_op.function(), {x}));
  expect_code(GraphModule::create(nn::Module(), std::move(graph)));
}

MIRROR_CASE(Details, boxed_runs_of_trees) {
  const Value inputs =
      Value::dict({{"a", fx::PH()}, {"b", Value::list({fx::PH()})}});
  const auto gm = symbolic_trace(Trees::create(), {{"d", inputs}});
  const Value x = fill({2}), y = fill({2}, 1), z = fill({2}, 2);
  ValueList all = {x, y, z}, few = {x, y};
  expect_value("boxed", fx::Interpreter(*gm).boxed_run(&all));
  EXPECT_TRUE(all.empty());
  expect_error([&] { fx::Interpreter(*gm).boxed_run(&few); });
  const Value tree = Value::dict({{"a", x}, {"b", Value::list({y})}});
  expect_value("called", gm->call({tree, z}, {}));
}

MIRROR_CASE(Details, lint_of_missing_targets) {
  using Target = std::pair<Opcode, const char*>;
  for (const auto& [op, target] : {Target{Opcode::get_attr, "lin.weight.x"},
                                   {Opcode::call_module, "lin.weight"},
                                   {Opcode::call_module, "lin.weight.x"},
                                   {Opcode::get_attr, "lin.foo.x"},
                                   {Opcode::get_attr, "seq.0.weight.x.y"},
                                   {Opcode::call_module, "foo"},
                                   {Opcode::get_attr, "foo.bar"},
                                   {Opcode::call_module, "seq.3"},
                                   {Opcode::get_attr, "scale.x"},
                                   {Opcode::call_module, "scale"}}) {
    const auto gm = symbolic_trace(Net::create());
    auto point = gm->graph().inserting_before(nullptr);
    gm->graph().create_node(op, target);
    expect_error([&] { gm->graph().lint(); });
  }
}

MIRROR_CASE(Details, inserted_arguments) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr node = graph.call_function("torch.neg", {x});
  for (int index : {-1, -5, 2, 7})
    expect_error([&] { node->insert_arg(static_cast<size_t>(index), 1); });
  node->insert_arg(1, 2);
  expect_graph(graph);
}

MIRROR_CASE(Details, calls_without_a_part) {
  const Value x = fill({2, 3});
  for (const char* part : {"lin", "seq.0", "seq"}) {
    const auto gm = symbolic_trace(Net::create());
    gm->delete_submodule(part);
    expect_error([&] { gm->call({x}, {}); });
    expect_error([&] { fx::Interpreter(*gm).run({x}); },
                 "\nOriginal traceback");
  }
  auto gm = symbolic_trace(Net::create());
  gm->remove_member("scale");
  expect_error([&] { gm->call({x}, {}); });
  auto graph = std::make_unique<Graph>();
  graph->output(graph->get_attr("lin.weight"));
  gm = GraphModule::create(*Net::create(), std::move(graph));
  gm->get_submodule("lin").remove_member("weight");
  expect_error([&] { gm->call({}, {}); });
}

MIRROR_CASE(Details, types_of_transformed_outputs) {
  const auto gm = symbolic_trace([](Value x) -> Value { return x + 1; }, {"x"});
  gm->graph().placeholders()[0]->set_type("int");
  gm->graph().output_node()->set_type("torch.Tensor");
  gm->recompile();
  expect_code(gm);
  expect_code(fx::Transformer(gm).transform());
}

MIRROR_CASE(Details, shape_errors) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value { return relu(x) + y; }, {"x", "y"});
  const auto propagate = [&](const Dims& sizes) {
    fx::passes::ShapeProp(*gm).propagate({fill({2, 3}), fill(sizes)});
  };
  // torch's text ends here; ours goes on with what went wrong.
  expect_error([&] { propagate({4}); }, "\n");
  propagate({3});
  expect_error([&] { propagate({4}); }, "\n");
}

MIRROR_CASE(Details, normalised_overloads) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value a = function("torch.add", {x, y});
        const Value b = function("torch.sub", {a, 1});
        const Value c = function("torch.add", {b, y}, {{"alpha", 2}});
        const Value d = function("torch.relu", {c});
        const Value e = function("torch.sum", {d, 1});
        const Value f = function("torch.clamp", {e, 0, 1});
        const Value g = function("torch.flatten", {f, 0});
        return function("F.gelu", {function("torch.div", {g, 2})});
      },
      {"x", "y"});
  expect_graph(fx::passes::NormalizeArgs(gm).transform());
  expect_graph(fx::passes::NormalizeArgs(gm, false).transform());
}

MIRROR_CASE(Details, refused_mutable_operations) {
  for (const char* name :
       {"torch.relu_", "torch.zero_", "torch.exp_", "F.relu_", "torch.erf_"})
    expect_error(
        [&] { Strict().of([&](Value x) { return function(name, {x}); }); });
  expect_graph(*Strict().of(
      [](Value x) { return function("torch.clamp_", {x, 0, 1}); }));
  expect_graph(*Strict().of([](Value x) { return method(x, "add_", {1}); }));
  expect_graph(*Strict().of([](Value x) { return F::relu(x, true); }));
}

MIRROR_CASE(Details, tensors_in_nodes) {
  constexpr double kInf = HUGE_VAL;
  const auto expect_holder = [&](ValueList values) {
    expect_graph(*holder_of(std::move(values)));
  };
  expect_holder({fill({2}), 1});
  expect_holder({fill({2, 3}), Value::list({fill({2, 2}, 1, DType::i64)})});
  expect_holder({scalar(3, DType::i64), scalar(0.5, DType::f32),
                 scalar(1, DType::boolean)});
  expect_holder({fill({3}, 0, DType::boolean), fill({2}, 0, DType::f64)});
  expect_holder({Tensor::zeros({2}), Tensor::full({2, 2}, 3)});
  expect_holder({numbers({1e-5, 1}), numbers({1e9, 2})});
  expect_holder({numbers({1000, 2.5}), numbers({1e4, 1})});
  expect_holder({numbers({NAN, 1, kInf})});
  expect_holder({numbers({-kInf, 0.25}), numbers({})});
  expect_holder({Tensor::zeros({0, 3}), numbers({}, DType::i64)});
  expect_holder({fill({2, 2, 3}), fill({1, 2, 1, 2}, 0, DType::i32)});
  expect_holder({fill({30}), fill({40}, 2, DType::i64)});
  expect_holder({fill({1001}), fill({8, 200}, 1, DType::i64)});
  expect_holder({fill({12, 10, 10})});
  expect_holder({fill({3}, 1, DType::f16), fill({9}, 1, DType::bf16)});
  expect_holder({numbers({-1, 10, -100}, DType::i64),
                 method(fill({2, 3}), "t").as_tensor()});
  const std::vector<int64_t> large = {int64_t{1} << 40, (int64_t{1} << 62) + 1};
  expect_holder({Tensor::from(std::span<const int64_t>(large), {2})});
  Graph graph;
  graph.placeholder("x", None, fill({2}));
  graph.output(Value::list({fill({1}), Value::dict({{"k", fill({2})}})}));
  expect_graph(graph);
  expect_code(graph);
  expect_tabular(*holder_of({fill({2}), 1}));
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
