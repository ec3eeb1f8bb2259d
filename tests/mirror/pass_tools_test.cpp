// Normalising calls, merging products, sizes, sources, annotated items.
#include <algorithm>

#include "fxjit/fx/passes.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {
namespace TEST_FILE {

using fx::symbolic_trace;
namespace passes = fx::passes;

class Layers : public nn::Custom<Layers> {
 public:
  Layers() : Custom("Layers", {"x"}) {
    conv = register_module("conv", nn::Conv2d::create(1, 2, 3));
    lin = register_module("lin", nn::Linear::create(4, 4));
  }
  Value forward(Value x) {
    Value y = relu(lin(conv(x)));
    Value z = nn::functional::linear(y, lin->weight.value());
    return function("torch.sum", {z * 2, 1});
  }
  nn::Ref<nn::Conv2d> conv;
  nn::Ref<nn::Linear> lin;
};

class Products : public nn::Custom<Products> {
 public:
  Products() : Custom("M", {"x", "y"}) {
    w = register_parameter("w", Tensor::zeros({4, 5}));
  }
  Value forward(Value x, Value y) {
    Value first = matmul(x, w.value());
    Value second = matmul(y, w.value());
    return Value::tuple({first, second, matmul(x, method(y, "t"))});
  }
  nn::Parameter w;
};

class Norms : public nn::Custom<Norms> {
 public:
  Norms() : Custom("Norms", {"x"}) {
    one = register_module("one", nn::Linear::create(4, 4));
    act = register_module("act", nn::ReLU::create());
    two = register_module("two", nn::Linear::create(4, 4));
  }
  Value forward(Value x) {
    Value y = two(act(one(x)));
    Value left = act(y);
    return left + one(y);
  }
  nn::Ref<nn::Linear> one;
  nn::Ref<nn::ReLU> act;
  nn::Ref<nn::Linear> two;
};

class ThroughLayers : public fx::Tracer {
 public:
  bool is_leaf_module(const nn::Module&, std::string_view) const override {
    return false;
  }
};

std::string names_of(const std::vector<fx::NodePtr>& nodes) {
  std::vector<std::string> names;
  for (const fx::Node* node : nodes) names.emplace_back(node->name());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : " ") + name;
  return text;
}

class PassTools : public Case {
 protected:
  void expect_partitions(const passes::SourcePartitions& found) {
    std::string lines;
    for (const auto& [source, partitions] : found)
      for (const passes::SourcePartition& p : partitions)
        lines += (lines.empty() ? "" : "\n") + source + ": " +
                 names_of(p.nodes) + " | " + names_of(p.input_nodes) + " | " +
                 names_of(p.output_nodes) + " | " + names_of(p.params);
    expect_text("partitions", lines);
  }
  void expect_groups(const fx::GraphModule& gm,
                     std::vector<fx::NodePtr> allowed) {
    const passes::NodeGroups groups = passes::find_fusion_groups(gm, allowed);
    std::string lines;
    for (const fx::Node* node : gm.graph().nodes())
      if (const auto group = groups.find(node); group != groups.end())
        lines += (lines.empty() ? "" : "\n") + std::string(node->name()) +
                 ": " + names_of(*group->second);
    expect_text("groups", lines);
  }
};

MIRROR_CASE(PassTools, normalized_args) {
  const auto gm = symbolic_trace(filled(Layers::create()));
  passes::ShapeProp(*gm).propagate({fill({1, 1, 6, 6}, 1)});
  for (const bool only : {true, false}) {
    const auto made = passes::NormalizeArgs(gm, only).transform();
    expect_graph(made);
    expect_code(made);
    expect_outputs(made, {fill({1, 1, 6, 6}, 1)});
    EXPECT_NE(passes::tensor_meta(*made->graph().find_node("relu")), nullptr);
  }
}

constexpr const char* kSplitResult =
    "torch.fx.experimental.merge_matmul.split_result_tensors";

MIRROR_CASE(PassTools, merged_products) {
  const auto gm = passes::merge_matmul(symbolic_trace(
      [](Value x, Value y, Value z) -> Value {
        Value a = matmul(x, z);
        Value b = matmul(relu(y), z);
        Value left = neg(a);
        return Value::tuple({left, b + 1});
      },
      {"x", "y", "z"}));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 4}, 1), fill({3, 4}, 2), fill({4, 5}, 3)},
                 {.eager = {kSplitResult}});
}

MIRROR_CASE(PassTools, merged_products_of_an_attribute) {
  const auto gm = passes::merge_matmul(filled(Products::create()));
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({2, 4}, 1), fill({3, 4}, 2)},
                 {.eager = {kSplitResult}});
}

MIRROR_CASE(PassTools, products_that_need_each_other) {
  expect_graph(passes::merge_matmul(symbolic_trace(
      [](Value x, Value z) -> Value { return matmul(matmul(x, z), z); },
      {"x", "z"})));
}

MIRROR_CASE(PassTools, replaced_targets) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return relu(method(relu(x), "neg")); }, {"x"});
  passes::replace_target_nodes_with(*gm, fx::Opcode::call_function,
                                    ops::get_function("torch.relu"),
                                    fx::Opcode::call_method, "sigmoid");
  expect_graph(gm);
  expect_code(gm);
  passes::replace_target_nodes_with(*gm, fx::Opcode::call_method, "neg",
                                    fx::Opcode::call_function,
                                    ops::get_function("torch.abs"));
  expect_graph(gm);
  const std::string before = gm->graph().str();
  EXPECT_THROW(
      passes::replace_target_nodes_with(*gm, fx::Opcode::call_method, "sigmoid",
                                        fx::Opcode::call_function, "text"),
      ValueError);
  EXPECT_EQ(gm->graph().str(), before);
  expect_outputs(gm, {fill({3, 4}, 1)});
}

MIRROR_CASE(PassTools, sizes_of_nodes) {
  auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        Value left = relu(x);
        return left + method(y, "sum", {1}, {{"keepdim", true}});
      },
      {"x", "y"});
  expect_error(
      [&] { passes::get_size_of_node(*gm, *gm->graph().nodes().front()); });
  std::string lines;
  for (const auto& [node, size] : passes::get_size_of_all_nodes(
           *gm, ValueList{fill({3, 4}, 1), fill({3, 2}, 2, DType::i64)}))
    lines += (lines.empty() ? "" : "\n") + std::string(node->name()) + " " +
             std::to_string(size.output_size) + " " +
             std::to_string(size.total_size);
  expect_text("sizes", lines);
  gm = symbolic_trace(filled(Layers::create()));
  passes::ShapeProp(*gm).propagate({fill({1, 1, 6, 6}, 1)});
  lines.clear();
  for (const auto& [node, size] : passes::get_size_of_all_nodes(*gm))
    lines += (lines.empty() ? "" : "\n") + std::string(node->name()) + " " +
             std::to_string(size.total_size);
  expect_text("sizes", lines);
}

MIRROR_CASE(PassTools, annotated_items) {
  fx::Graph graph;
  const fx::NodePtr pair =
      graph.placeholder("pair", "typing.Tuple[int, typing.List[float]]");
  const fx::NodePtr many = graph.placeholder("many", "typing.List[int]");
  const fx::NodePtr same = graph.placeholder("same", "typing.Tuple[int, ...]");
  const fx::NodePtr bare = graph.placeholder("bare");
  const std::pair<fx::NodePtr, int> reads[] = {
      {pair, 0}, {pair, 1}, {many, 3}, {same, 2}, {bare, 0}};
  for (const auto& [of, index] : reads)
    graph.call_function("operator.getitem", {of, index});
  graph.output(None);
  passes::annotate_getitem_nodes(graph);
  std::string lines;
  for (const fx::Node* node : graph.find_nodes(fx::Opcode::call_function))
    lines += (lines.empty() ? "" : "\n") + std::string(node->name()) + ": " +
             (node->type().is_string() ? std::string(node->type().as_string())
                                       : "None");
  expect_text("types", lines);
  fx::Graph refused;
  const fx::NodePtr two = refused.placeholder("pair", "tuple[int, float]");
  refused.call_function("operator.getitem", {two, 5});
  try {
    passes::annotate_getitem_nodes(refused);
    ADD_FAILURE() << "expected an error";
  } catch (const AssertionError& error) {
    expect_text("refused", error.message());
  }
}

MIRROR_CASE(PassTools, sources_by_module) {
  const auto model = filled(Norms::create());
  const auto graph = ThroughLayers().trace(*model);
  expect_graph(*graph);
  const auto found = passes::get_source_partitions(*graph, {"Linear", "ReLU"});
  expect_partitions(found);
  const auto& linear = found.at(0).second;
  const auto& relu = found.at(1).second;
  std::string answers;
  for (const bool connected :
       {passes::check_subgraphs_connected(linear[0], relu[0]),
        passes::check_subgraphs_connected(relu[0], linear[1]),
        passes::check_subgraphs_connected(linear[1], linear[0]),
        passes::check_subgraphs_connected(relu[0], linear[0])})
    answers += (answers.empty() ? "" : " ") +
               std::string(connected ? "True" : "False");
  expect_text("connected", answers);
  expect_partitions(passes::get_source_partitions(
      *graph, {"Linear"},
      [](const fx::Node& node) { return node.name() != "linear_1"; }));
}

MIRROR_CASE(PassTools, sources_by_meta) {
  const auto gm = symbolic_trace(
      [](Value x, Value w) -> Value {
        Value y = relu(matmul(x, w));
        return neg(relu(matmul(y, w))) + y;
      },
      {"x", "w"});
  for (fx::NodePtr node : gm->graph().find_nodes(fx::Opcode::call_function)) {
    const bool first = node->name().find("_1") == std::string_view::npos;
    if (node->name().starts_with("neg")) {
      node->meta().set("torch_fn",
                       Value::tuple({"neg_1", "builtin_function.neg"}));
    } else if (!node->name().starts_with("add")) {
      node->meta().set(
          "source_fn_stack",
          Value::list({Value::tuple({"top", "mlp"}),
                       Value::tuple({first ? "one" : "two", "layer"})}));
    }
  }
  expect_partitions(
      passes::get_source_partitions(gm->graph(), {"layer", "neg", "mlp"}));
}

MIRROR_CASE(PassTools, groups_of_numbers) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        Value a = relu(x);
        Value n = method(a, "size", {0});
        Value k = n * 2;
        Value b = method(y, "reshape", {k, -1});
        Value c = neg(b);
        Value size = method(c, "size", {1});
        return Value::tuple({method(c, "reshape", {size, -1}), a});
      },
      {"x", "y"});
  passes::ShapeProp(*gm).propagate({fill({3, 4}, 1), fill({6, 2}, 2)});
  std::vector<fx::NodePtr> calls, some;
  for (fx::NodePtr node : gm->graph().nodes()) {
    if (!passes::is_callable_node(*node)) continue;
    calls.push_back(node);
    if (node->name() != "reshape") some.push_back(node);
  }
  expect_groups(*gm, calls);
  expect_groups(*gm, some);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
