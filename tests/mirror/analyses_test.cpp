// What passes find out: shapes, types, equal calls, constants, normal forms,
// history.
#include "fxjit/fx/passes.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Analyses)

namespace TEST_FILE {

namespace passes = fx::passes;
namespace F = nn::functional;
using fx::symbolic_trace;

class Net : public nn::Custom<Net> {
 public:
  Net() : Custom("Net", {"x"}) {
    nn::ConvOptions options;
    options.padding = 1;
    conv = register_module("conv", nn::Conv2d::create(2, 4, 3, options));
    lin = register_module("lin", nn::Linear::create(4, 3));
    scale = register_parameter("scale", Tensor::zeros({3}));
  }
  Value forward(Value x) {
    const Value y = F::relu(conv(x));
    const Value z = method(y, "mean", {}, {{"dim", Value::tuple({2, 3})}});
    const Value w = lin(z) * scale;
    const Value best = method(w, "argmax", {}, {{"dim", 1}});
    return Value::tuple({w, best, method(x, "size", {0})});
  }
  nn::Ref<nn::Conv2d> conv;
  nn::Ref<nn::Linear> lin;
  nn::Parameter scale;
};

class Foldable : public nn::Custom<Foldable> {
 public:
  Foldable() : Custom("Foldable", {"x"}) {
    a = register_parameter("a", Tensor::zeros({3, 3}));
    b = register_parameter("b", Tensor::zeros({3}));
  }
  Value forward(Value x) {
    const Value w = method(relu(a), "t");
    const Value product = operators::matmul(x, w);
    return product + method(b * 2, "sum");
  }
  nn::Parameter a, b;
};

class Activations : public nn::Custom<Activations> {
 public:
  Activations() : Custom("M", {"x"}) {
    lin = register_module("lin", nn::Linear::create(2, 2));
  }
  Value forward(Value x) {
    const Value y = function("torch.nn.functional.softmax", {lin(x)},
                             {{"dim", 1}});
    const Value z = function("torch.nn.functional.leaky_relu", {y, 0.2});
    return Value::tuple({z, function("torch.flatten", {x}, {{"end_dim", 1}})});
  }
  nn::Ref<nn::Linear> lin;
};

std::string dims_text(const Dims& dims, const char* open, const char* close) {
  std::string text = open;
  for (int i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + close;
}

std::string shape_text(const Value& value) {
  if (value.is_tensor())
    return repr(Value(value.as_tensor().dtype())) +
           dims_text(value.as_tensor().sizes(), "[", "]");
  if (!value.is_sequence()) return repr(value);
  std::string text;
  for (const Value& item : value.as_sequence())
    text += (text.empty() ? "" : ", ") + shape_text(item);
  return "(" + text + ")";
}

std::string fake_lines(const nn::Ref<fx::GraphModule>& gm) {
  std::string lines;
  for (const fx::Node* node : gm->graph().nodes())
    if (!node->val().is_none())
      lines += (lines.empty() ? "" : "\n") + std::string(node->name()) + " " +
               shape_text(node->val());
  return lines;
}

std::string format_text(const passes::TensorMetadata& meta) {
  if (!meta.memory_format) return "None";
  return *meta.memory_format == passes::MemoryFormat::contiguous
             ? "torch.contiguous_format"
             : "torch.channels_last";
}

ValueList sorted(const std::set<std::string>& names) {
  return {names.begin(), names.end()};
}

MIRROR_CASE(Analyses, shapes_without_numbers) {
  const auto gm = symbolic_trace(filled(Net::create()));
  const Value result =
      passes::FakeTensorProp(*gm).propagate({fill({2, 2, 5, 5})});
  expect_text("result", shape_text(result));
  expect_text("vals", fake_lines(gm));
}

MIRROR_CASE(Analyses, shapes_of_given_shapes) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value both = function("torch.cat", {Value::list({x, y}), 0});
        const Value flipped = method(x, "t");
        return Value::tuple(
            {both, flipped, operators::matmul(x, method(y, "t"))});
      },
      {"x", "y"});
  const Value result = passes::FakeTensorProp(*gm).propagate(
      {Tensor::meta({2, 3}, DType::f32), Tensor::meta({4, 3}, DType::f32)});
  expect_text("result", shape_text(result));
  expect_text("vals", fake_lines(gm));
}

MIRROR_CASE(Analyses, types_without_numbers) {
  const auto gm = symbolic_trace(
      [](Value x, Value n) -> Value {
        const Value half = method(x, "half");
        const Value mask = x > 0;
        const Value picked = function("torch.where", {mask, x, 0.0});
        const Value sum =
            method(picked, "sum", {}, {{"dtype", DType::f64}});
        return Value::tuple({half, mask, sum, method(x, "long") + n});
      },
      {"x", "n"});
  passes::FakeTensorProp(*gm).propagate({fill({3, 2}), 2});
  expect_text("vals", fake_lines(gm));
}

MIRROR_CASE(Analyses, facts_of_tensors) {
  const auto gm = symbolic_trace(filled(Net::create()));
  passes::ShapeProp(*gm).propagate({fill({2, 2, 5, 5})});
  const fx::Graph& graph = gm->graph();
  const passes::TensorMetadata& meta =
      passes::get_tensor_meta(*graph.find_node("conv"));
  expect_text("class", "TensorMetadata");
  expect_value("shape", Value::list(Value(meta.shape).as_sequence()));
  expect_value("stride", Value::list(Value(meta.stride).as_sequence()));
  expect_text("type", repr(Value(meta.dtype)));
  expect_text("format", format_text(meta));
  ValueList tensors, targets;
  for (const fx::Node* node : graph.nodes()) {
    if (!node->is(fx::Opcode::output) && passes::is_node_output_tensor(*node))
      tensors.emplace_back(node->name());
    if (!passes::is_callable_node(*node)) continue;
    const std::string target = passes::get_node_target(*gm, *node);
    targets.emplace_back(target.substr(target.rfind('.') + 1));
  }
  expect_value("tensors", tensors);
  expect_value("targets", targets);
  expect_error([&] { passes::get_tensor_meta(*graph.find_node("size")); });
}

MIRROR_CASE(Analyses, formats_of_images) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value y = method(x, "permute", {0, 2, 3, 1});
        const Value back = method(method(y, "contiguous"), "permute",
                                  {0, 3, 1, 2});
        const Value all = Value::slice(None, None);
        const Value part = getitem(back, all, Value::slice(None, 1));
        return Value::tuple({part, method(x, "flatten", {1})});
      },
      {"x"});
  passes::ShapeProp(*gm).propagate({fill({2, 3, 4, 5})});
  std::string lines;
  for (const fx::Node* node : gm->graph().nodes()) {
    if (node->is(fx::Opcode::output)) continue;
    const passes::TensorMetadata& meta = passes::get_tensor_meta(*node);
    lines += (lines.empty() ? "" : "\n") + std::string(node->name()) + ": " +
             format_text(meta) + " " + dims_text(meta.stride, "(", ")");
  }
  expect_text("meta", lines);
}

MIRROR_CASE(Analyses, equal_calls_by_default) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value a = relu(x);
        const Value b = relu(x);
        const Value c = method(x, "neg");
        const Value d = method(x, "neg");
        const Value e = function("torch.add", {a, b}, {{"alpha", 2}});
        const Value g = function("torch.add", {b, a}, {{"alpha", 2}});
        const Value first = a + c;
        return Value::tuple({first, b + d, e, g});
      },
      {"x"});
  const passes::PassResult result = passes::CSEPass()(gm);
  expect_value("modified", result.modified);
  expect_graph(result.graph_module);
  expect_value("again", passes::CSEPass()(result.graph_module).modified);
  expect_outputs(result.graph_module, {fill({3})});
}

MIRROR_CASE(Analyses, equal_calls_that_are_kept) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value left = sin(x);
        const Value sum = left + sin(x);
        const Value first = cos(x);
        return Value::tuple({sum, first, cos(x)});
      },
      {"x"});
  const ops::Op* const sine = ops::get_function("torch.sin").op;
  const passes::PassResult result = passes::CSEPass({sine})(gm);
  expect_value("modified", result.modified);
  expect_graph(result.graph_module);
  expect_value("banned", passes::get_CSE_banned_ops().contains(sine));
  expect_outputs(result.graph_module, {fill({3})});
}

MIRROR_CASE(Analyses, equal_numbers_of_several_types) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value a = x * 2;
        const Value b = x * 2.0;
        const Value c = x * 2;
        const Value d = getitem(x, 0);
        const Value e = getitem(x, 1);
        return Value::tuple({a, b, c, d, e, getitem(x, 0)});
      },
      {"x"});
  const passes::PassResult result = passes::CSEPass()(gm);
  expect_value("modified", result.modified);
  expect_outputs(result.graph_module, {fill({3, 2})});
}

MIRROR_CASE(Analyses, folding_before_and_after) {
  const auto gm = passes::split_const_subgraphs(
      *symbolic_trace(filled(Foldable::create())));
  expect_text("name", gm->folded_attrs_name());
  expect_graph(gm->graph());
  expect_graph(gm->const_subgraph_module());
  gm->run_folding();
  expect_error([&] { gm->run_folding(); });
  expect_value("result", gm->call({fill({2, 3})}));
  expect_value("name again",
               passes::get_unique_attr_name_in_module(*gm, "a"));
  expect_value("free name",
               passes::get_unique_attr_name_in_module(*gm, "9 lives!"));
}

MIRROR_CASE(Analyses, operators_for_functions) {
  const auto traced = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value a = function("torch.add", {x, y});
        const Value b = function("torch.sub", {a, 1});
        const Value c = function("torch.mul", {b, y});
        const Value d = function("torch.div", {c, 2.0});
        const Value e = function("torch.lt", {d, x});
        const Value g = function("torch.eq", {d, y});
        const Value h = function("torch.add", {x, y}, {{"alpha", 1}});
        return Value::tuple({d, e, function("torch.ge", {x, g}), h});
      },
      {"x", "y"});
  const auto gm = passes::NormalizeOperators(traced).transform();
  std::string lines;
  for (const fx::Node* node : gm->graph().nodes())
    if (node->name() != "add_1")
      lines += (lines.empty() ? "" : "\n") + node->format_node();
  expect_text("nodes", lines);
}

MIRROR_CASE(Analyses, arguments_by_position) {
  const auto gm = symbolic_trace(filled(Activations::create()));
  for (const bool only_kwargs : {true, false}) {
    const auto made = passes::NormalizeArgs(gm, only_kwargs).transform();
    expect_graph(made);
    expect_outputs(made, {fill({3, 2})});
  }
}

MIRROR_CASE(Analyses, observed_passes) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return relu(function("torch.neg", {x})) + 1; },
      {"x"});
  passes::GraphTransformObserver observer(*gm, "swap");
  observer.apply_gm_pass([](fx::GraphModule& module) {
    fx::Graph& graph = module.graph();
    const fx::NodePtr neg = graph.find_node("neg");
    const auto point = graph.inserting_after(neg);
    neg->replace_all_uses_with(graph.call_function("torch.abs", neg->args()));
    graph.erase_node(neg);
  });
  expect_value("created", sorted(observer.created_nodes()));
  expect_value("erased", sorted(observer.erased_nodes()));
  gm->recompile();
  expect_graph(gm);
  ValueList from;
  for (const fx::Node* node : gm->graph().nodes()) {
    ValueList line{node->name()};
    if (const Value* const sources = node->meta().find("from_node"))
      for (const Value& source : sources->as_sequence())
        line.emplace_back(std::string(source.at(0).as_string()) + " " +
                          std::string(source.at(1).as_string()) + " " +
                          std::string(source.at(2).as_string()));
    from.push_back(Value::list(line));
  }
  expect_value("from", from);
}

MIRROR_CASE(Analyses, observed_graphs) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value left = sin(x);
        return left + cos(x);
      },
      {"x"});
  const int count = passes::GraphTransformObserver::get_current_pass_count();
  passes::GraphTransformObserver observer(*gm, "drop");
  observer.apply_graph_pass([](fx::Graph& graph) {
    const fx::NodePtr out = graph.output_node();
    const auto point = graph.inserting_before(out);
    out->set_args({graph.call_function("torch.tanh", {graph.find_node("sin")})});
    graph.eliminate_dead_code();
  });
  expect_value("created", sorted(observer.created_nodes()));
  expect_value("erased", sorted(observer.erased_nodes()));
  expect_value("passes",
               passes::GraphTransformObserver::get_current_pass_count() - count);
  gm->recompile();
  expect_outputs(gm, {fill({3})});
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
