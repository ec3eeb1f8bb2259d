// Parts of passes used alone: matchers, comparisons, partitions, steps of
// splitters.
#include <algorithm>
#include <map>
#include <set>

#include "fxjit/fx/passes.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(PassParts)

namespace TEST_FILE {

namespace passes = fx::passes;
using fx::Graph;
using fx::GraphModule;
using fx::Node;
using fx::NodePtr;
using fx::symbolic_trace;
using Names = std::set<std::string, std::less<>>;

Value chained(Value x, Value y) {
  const Value a = relu(x + y);
  const Value b = function("torch.neg", {a});
  const Value c = relu(b + y);
  return Value::tuple({function("torch.neg", {c}), a});
}

nn::Ref<GraphModule> traced_chain() {
  return symbolic_trace(chained, {"x", "y"});
}

template <typename Nodes>
ValueList names_of(const Nodes& nodes) {
  ValueList names;
  for (const Node* node : nodes) names.emplace_back(node->name());
  return names;
}

ValueList names_of_values(const ValueList& nodes) {
  ValueList names;
  for (const Value& node : nodes) names.emplace_back(node.as_node()->name());
  return names;
}

std::vector<NodePtr> named(const Graph& graph,
                           const std::vector<std::string>& names) {
  std::vector<NodePtr> nodes;
  for (const std::string& name : names) nodes.push_back(graph.find_node(name));
  return nodes;
}

passes::OperatorSupportRef supports(Names names) {
  return passes::create_op_support(
      [names](const nn::Module&, const Node& node) {
        return names.contains(node.name());
      });
}

class Relus : public passes::OperatorSupportBase {
 public:
  bool is_node_supported(const nn::Module&, const Node& node) const override {
    return node.target() == ops::get_function("torch.relu");
  }
};

class Nested : public nn::Custom<Nested> {
 public:
  Nested() : Custom("Nested", {"x"}) {
    one = register_module("one",
                          nn::ModuleRef(std::make_shared<nn::Module>()));
    lin = one->register_module("lin", nn::Linear::create(2, 2));
    scale = one->register_parameter("scale", Tensor::zeros({2}));
  }
  Value forward(Value x) { return lin(x) * scale; }
  nn::ModuleRef one;
  nn::Ref<nn::Linear> lin;
  nn::Parameter scale;
};

nn::Ref<GraphModule> traced_tanhs() {
  return symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value a = tanh(x);
        const Value b = function("torch.neg", {a + y});
        const Value c = tanh(b);
        const Value d = tanh(c) + a;
        return Value::tuple({function("torch.neg", {d}), c});
      },
      {"x", "y"}, "Tanhs");
}

passes::SplitterBase splitter() {
  return {traced_tanhs(),
          {fill({3}), fill({3}, 1)},
          supports({"tanh", "tanh_1", "tanh_2"}),
          {.skip_fusion = true}};
}

ValueList parts_of(const std::vector<passes::SplitterSubgraph>& subgraphs) {
  ValueList parts;
  for (const passes::SplitterSubgraph& part : subgraphs) {
    ValueList line = names_of(part.nodes);
    line.insert(line.begin(), Value(part.is_acc));
    parts.push_back(Value::list(line));
  }
  return parts;
}

Value sorted(ValueList names) {
  std::sort(names.begin(), names.end(), [](const Value& a, const Value& b) {
    return a.as_string() < b.as_string();
  });
  return Value::list(std::move(names));
}

MIRROR_CASE(PassParts, matches_with_names) {
  const auto pattern = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value total = x + y;
        const Value act = relu(total);
        return Value::tuple(
            {act, Value::dict({{"sum", total}, {"act", act}})});
      },
      {"x", "y"});
  const auto gm = traced_chain();
  const passes::SubgraphMatcherWithNameNodeMap matcher(pattern->graph());
  const auto found = matcher.match(gm->graph());
  expect_value("count", found.size());
  for (const passes::InternalMatch& match : found) {
    ValueList names;
    for (const auto& [name, node] : match.name_node_map)
      names.push_back(Value::list({name, node->name()}));
    expect_value("names", names);
    expect_value("inputs", names_of_values(match.placeholder_nodes));
    expect_value("results", names_of(match.returning_nodes));
  }
}

MIRROR_CASE(PassParts, parts_of_matches) {
  const auto pattern = symbolic_trace(
      [](Value x, Value y) -> Value { return relu(x + y); }, {"x", "y"});
  const auto gm = traced_chain();
  const passes::SubgraphMatcher matcher(pattern->graph());
  const auto found = matcher.match(gm->graph());
  ASSERT_FALSE(found.empty());
  expect_value("anchors", names_of(found[0].anchors));
  for (const passes::InternalMatch& match : found) {
    expect_value("anchors", names_of(match.anchors));
    ValueList map;
    for (const auto& [from, to] : match.nodes_map)
      map.push_back(Value::list({from->name(), to.as_node()->name()}));
    expect_value("map", map);
    expect_value("inputs", names_of_values(match.placeholder_nodes));
    expect_value("results", names_of(match.returning_nodes));
    EXPECT_TRUE(match.name_node_map.empty());
    expect_value("names", Value::dict({}));
  }
}

MIRROR_CASE(PassParts, overlapping_matches_kept) {
  const auto negated = [](Value x) -> Value {
    return function("torch.neg", {x});
  };
  const auto pattern = symbolic_trace(
      [&](Value x) -> Value { return negated(negated(x)); }, {"x"});
  const auto gm = symbolic_trace(
      [&](Value x) -> Value { return negated(negated(negated(x))); }, {"x"});
  for (const bool remove : {true, false}) {
    const passes::SubgraphMatcher matcher(
        pattern->graph(), {.remove_overlapping_matches = remove});
    ValueList results;
    for (const passes::InternalMatch& match : matcher.match(gm->graph()))
      results.push_back(Value::list(names_of(match.returning_nodes)));
    expect_value("results", results);
  }
}

MIRROR_CASE(PassParts, graphs_compared) {
  const auto first = traced_chain();
  const auto renamed = traced_chain();
  for (NodePtr node : renamed->graph().nodes())
    node->force_name("other_" + std::string(node->name()));
  const auto swapped = symbolic_trace(
      [](Value x, Value y) -> Value { return chained(y, x); }, {"x", "y"});
  const auto longer = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value pair = chained(x, y);
        return Value::tuple({function("torch.neg", {pair.at(0)}), y});
      },
      {"x", "y"});
  ValueList equal;
  for (const auto& other : {first, renamed, swapped, longer})
    equal.emplace_back(
        passes::compare_graphs(first->graph(), other->graph()));
  expect_value("equal", equal);
}

MIRROR_CASE(PassParts, modules_held_by_name) {
  passes::HolderModule holder(
      {{"a", nn::Linear::create(2, 3)}, {"b", nn::ReLU::create()}});
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr a = graph->call_module("a", {x});
  graph->output(graph->call_module("b", {a}));
  fill_parameters(holder);
  const auto gm = GraphModule::create(holder, std::move(graph));
  ValueList names;
  for (const auto& [name, child] : holder.children())
    names.emplace_back(name);
  expect_value("names", names);
  expect_code(gm);
  expect_outputs(gm, {fill({4, 2})});
}

MIRROR_CASE(PassParts, partitions_that_may_be_fused) {
  const auto gm = traced_chain();
  const std::vector<std::vector<std::string>> partitions = {
      {"add", "relu"},   {"add", "neg"}, {"relu", "neg", "add_1"},
      {"add", "relu_1"}, {"neg_1"},      {}};
  for (const auto& names : partitions) {
    std::string label;
    for (const std::string& name : names)
      label += (label.empty() ? "" : " ") + name;
    expect_value(label,
                 passes::validate_partition(named(gm->graph(), names)));
  }
}

MIRROR_CASE(PassParts, partitions_in_one_step) {
  const auto gm = traced_chain();
  passes::CapabilityBasedPartitioner partitioner(
      *gm, supports({"add", "relu", "neg_1"}),
      {.allows_single_node_partition = true});
  ValueList sizes;
  for (const passes::Partition& part : partitioner.propose_partitions())
    sizes.emplace_back(part.nodes.size());
  expect_value("sizes", sizes);
  partitioner.partition_and_fuse("part_");
  expect_graph(gm);
  expect_outputs(gm, {fill({3}), fill({3}, 1)});
}

MIRROR_CASE(PassParts, support_by_class_and_type) {
  const auto gm = traced_chain();
  passes::ShapeProp(*gm).propagate({fill({3}), fill({3}, 1, DType::i64)});
  const auto relus = std::make_shared<Relus>();
  const passes::OperatorSupportRef no_names =
      passes::OpSupports::decline_if_node_in_names({"relu_1"});
  const auto typed = [](const char* target, DType type) {
    passes::SupportedArguments arguments{{{{type}}}, {}};
    return std::make_shared<passes::OperatorSupport>(
        passes::SupportDict{{target, arguments}});
  };
  const std::vector<passes::OperatorSupportRef> kinds = {
      relus,
      passes::OpSupports::decline_if_input_dtype(DType::i64),
      passes::chain({relus, no_names}),
      passes::any_chain({relus, supports({"neg"})}),
      std::make_shared<passes::OperatorSupport>(
          passes::SupportDict{{"_operator.add", std::nullopt}}),
      typed("_operator.add", DType::f32),
      typed("torch.relu", DType::i64)};
  for (const passes::OperatorSupportRef& kind : kinds) {
    ValueList names;
    for (const Node* node :
         gm->graph().find_nodes(fx::Opcode::call_function))
      if (kind->is_node_supported(*gm, *node)) names.emplace_back(node->name());
    expect_value("supported", names);
  }
}

MIRROR_CASE(PassParts, members_by_path) {
  const auto gm = symbolic_trace(filled(Nested::create()));
  expect_value("scale", gm->get_parameter("one.scale").tensor());
  expect_value("type", gm->get_submodule("one.lin").type_name());
  gm->add_submodule("one.lin", nn::ReLU::create());
  expect_value("type", gm->get_submodule("one.lin").type_name());
  expect_outputs(gm, {fill({3, 2})});
}

MIRROR_CASE(PassParts, lifted_part) {
  const auto gm = symbolic_trace(filled(Nested::create()));
  auto graph = std::make_unique<Graph>();
  const NodePtr x = graph->placeholder("x");
  const NodePtr lin = graph->call_module("one.lin", {x});
  graph->output(Value::tuple({lin, graph->get_attr("one.scale")}));
  passes::QualnameMap names;
  const auto made = passes::lift_subgraph_as_module(*gm, std::move(graph),
                                                    "part", "Part", &names);
  expect_text("class", made->type_name());
  ValueList pairs;
  for (const auto& [key, value] : names)
    pairs.push_back(Value::list({key, value}));
  expect_value("names", pairs);
  expect_code(made);
  expect_outputs(made, {fill({3, 2})});
}

MIRROR_CASE(PassParts, steps_of_a_splitter) {
  const auto gm = traced_tanhs();
  const ValueList inputs{fill({3}), fill({3}, 1)};
  const Names names{"tanh", "tanh_1", "tanh_2"};
  const auto support = supports(names);
  passes::ShapeProp(*gm).propagate(inputs);
  expect_value("accelerated",
               sorted(names_of(
                   passes::FxNetAccNodesFinder(*gm, support, false)())));
  const passes::SplitterBase made(gm, inputs, support, {.skip_fusion = true});
  expect_value("parts", parts_of(made.put_nodes_into_subgraphs()));
  const passes::SplitterBase larger(
      gm, inputs, support, {.min_acc_module_size = 2, .skip_fusion = true});
  expect_value("larger", parts_of(larger.remove_small_acc_subgraphs(
                             made.put_nodes_into_subgraphs())));
}

MIRROR_CASE(PassParts, tags_of_a_splitter) {
  passes::SplitterBase made = splitter();
  const passes::SplitResult result = made.generate_split_results();
  expect_value("tags", ValueList(made.tags().begin(), made.tags().end()));
  ValueList inputs;
  for (const auto& [name, given] : result.submodule_inputs)
    inputs.push_back(Value::list({name, given.size()}));
  expect_value("inputs", inputs);
  expect_text("prefix", result.non_acc_submodule_prefix);
  expect_graph(result.split_module);
  expect_outputs(result.split_module, {fill({3}), fill({3}, 1)});
}

MIRROR_CASE(PassParts, nodes_for_the_accelerator) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        const Value a = relu(x);
        const Value n = method(a, "size", {0});
        const Value b = function("torch.neg", {x});
        return relu(function("torch.reshape", {b, Value::tuple({n, -1})}));
      },
      {"x"});
  passes::ShapeProp(*gm).propagate({fill({2, 3})});
  const auto support = passes::create_op_support(
      [](const nn::Module&, const Node& node) {
        return node.name() != "neg";
      });
  for (const bool allow : {false, true})
    expect_value("nodes", sorted(names_of(passes::FxNetAccNodesFinder(
                              *gm, support, allow)())));
}

MIRROR_CASE(PassParts, parts_in_a_row) {
  const auto gm = traced_chain();
  const std::map<std::string, int64_t, std::less<>> part = {
      {"add", 0},   {"relu", 0},   {"neg", 1},
      {"add_1", 1}, {"relu_1", 2}, {"neg_1", 2}};
  const auto made = passes::split_module(
      *gm, [&](const Node& node) { return part.find(node.name())->second; });
  expect_graph(made);
  ValueList children;
  for (const auto& [name, child] : made->children())
    children.emplace_back(name);
  expect_value("children", children);
  const ValueList inputs{fill({3}), fill({3}, 1)};
  ValueList given;
  for (const auto& [name, values] : passes::generate_inputs_for_submodules(
           *made, inputs, {"submod_1", "submod_2"})) {
    ValueList line = values;
    line.insert(line.begin(), Value(name));
    given.push_back(Value::list(line));
  }
  expect_value("inputs", given);
  expect_outputs(made, inputs);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
