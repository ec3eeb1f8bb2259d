// split_by_tags, the splitter, sorting of graphs, corners of split_module.
#include <map>

#include "fxjit/fx/passes/split_module.h"
#include "fxjit/fx/passes/split_utils.h"
#include "fxjit/fx/passes/splitter_base.h"
#include "fxjit/fx/passes/tools_common.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {
namespace TEST_FILE {

using fx::symbolic_trace;
namespace passes = fx::passes;
using Callback = std::function<int64_t(const fx::Node&)>;
using Tags = std::map<std::string, std::string>;
using Names = std::set<std::string, std::less<>>;

class Shared : public nn::Custom<Shared> {
 public:
  Shared() : Custom("Shared", {"x"}) {
    w = register_parameter("w", Tensor::zeros({4}));
    block =
        register_module("block", nn::ModuleRef(std::make_shared<nn::Module>()));
    lin = block->register_module("lin", nn::Linear::create(4, 4));
    offset = register_buffer("offset", Tensor::zeros({4}));
  }
  Value forward(Value x) {
    Value first = lin(x);
    Value y = first + w.value();
    Value second = lin(relu(y));
    Value scaled = second * w.value();
    Value z = scaled + offset.value();
    return Value::tuple({z, offset.value(), y});
  }
  nn::Parameter w;
  nn::ModuleRef block;
  nn::Ref<nn::Linear> lin;
  nn::Buffer offset;
};

nn::Ref<fx::GraphModule> shared() {
  return symbolic_trace(filled(Shared::create()));
}

Callback by_name(std::map<std::string, int64_t> partitions) {
  return [partitions](const fx::Node& node) {
    const auto found = partitions.find(std::string(node.name()));
    return found == partitions.end() ? 0 : found->second;
  };
}
const std::map<std::string, int64_t> kParts = {
    {"relu", 1}, {"block_lin_1", 1}, {"mul", 1}, {"add_1", 2}};

nn::Ref<fx::GraphModule> first_needs_second() {
  return symbolic_trace(
      [](Value x) -> Value {
        Value a = relu(x);
        Value b = neg(x);
        return a + b;
      },
      {"x"});
}

nn::Ref<fx::GraphModule> tagged(nn::Ref<fx::GraphModule> gm, const Tags& tags) {
  for (fx::NodePtr node : gm->graph().nodes())
    if (const auto tag = tags.find(std::string(node->name()));
        tag != tags.end())
      node->meta().set("tag", tag->second);
  return gm;
}

Value sin_cos(Value a) {
  Value left = sin(a);
  return left + cos(a);
}

Value by_turns(Value x, Value y) {
  Value a = relu(x);
  Value b = neg(y);
  Value c = relu(b);
  Value d = neg(a);
  Value e = relu(d) + c;
  return Value::tuple({neg(e), a});
}
nn::Ref<fx::GraphModule> traced_turns() {
  return symbolic_trace(by_turns, {"x", "y"});
}

Value with_sizes(Value x, Value y) {
  Value a = relu(x);
  Value n = method(a, "size", {0});
  Value b = neg(y);
  return relu(method(b, "reshape", {n, -1})) + 1;
}

passes::OperatorSupportRef supports(Names names) {
  return passes::create_op_support(
      [names](const nn::Module&, const fx::Node& node) {
        const std::string_view target = node.target_name();
        return names.contains(target.substr(target.rfind('.') + 1));
      });
}

class Splitters : public Case {
 protected:
  nn::Ref<fx::GraphModule> record(nn::Ref<fx::GraphModule> made) {
    expect_graph(made);
    expect_code(made);
    for (const auto& [name, child] : made->children()) {
      auto* const part = dynamic_cast<fx::GraphModule*>(child.get());
      if (!part) continue;
      expect_text("submodule", name);
      expect_graph(part->graph());
    }
    return made;
  }
  void expect_names(const passes::QualnameMap& names) {
    std::string lines;
    for (const auto& [key, value] : names)
      lines += (lines.empty() ? "" : "\n") + key + "=" + value;
    expect_text("names", lines);
  }
  void split(const nn::Ref<fx::GraphModule>& gm, const Names& names,
             const ValueList& inputs,
             const passes::SplitterSettings& settings = {}) {
    passes::SplitterBase splitter(gm, inputs, supports(names), settings);
    const passes::SplitResult result = splitter.generate_split_results();
    record(result.split_module);
    std::string lines;
    for (const auto& [name, given] : result.submodule_inputs)
      lines += (lines.empty() ? "" : " ") + name + ":" +
               std::to_string(given.size());
    expect_text("inputs", lines);
    expect_outputs(result.split_module, inputs);
  }
};

MIRROR_CASE(Splitters, split_shared_members) {
  passes::QualnameMap names;
  const auto made =
      record(passes::split_module(*shared(), by_name(kParts), {}, &names));
  expect_names(names);
  expect_outputs(made, {fill({3, 4}, 1)});
}

MIRROR_CASE(Splitters, split_shared_members_in_order) {
  const auto gm = shared();
  const fx::NodePtr output = gm->graph().output_node();
  output->set_args({output->arg(0).at(0)});
  gm->recompile();
  record(passes::split_module(*gm, by_name(kParts),
                              {.keep_original_order = true}));
}

MIRROR_CASE(Splitters, split_original_order_impossible) {
  const auto gm = first_needs_second();
  record(passes::split_module(*gm, by_name({{"neg", 1}})));
  expect_error([&] {
    passes::split_module(*gm, by_name({{"neg", 1}}),
                         {.keep_original_order = true});
  });
}

MIRROR_CASE(Splitters, split_without_results) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        relu(x);
        fx::torch_assert(method(x, "sum") > -100, "sum");
        return neg(x);
      },
      {"x"});
  const auto made = record(passes::split_module(*gm, by_name({{"neg", 1}})));
  expect_outputs(made, {fill({3}, 1)}, {.eager = {"submod_0"}});
}

MIRROR_CASE(Splitters, split_nodes_in_containers) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        Value a = relu(x);
        Value b = neg(y);
        Value c = function("torch.cat", {Value::list({a, b, a})}, {{"dim", 0}});
        return Value::dict(
            {{"c", c}, {"ab", Value::list({a, Value::tuple({b, x})})}});
      },
      {"x", "y"});
  record(passes::split_module(*gm, by_name({{"neg", 1}, {"cat", 2}})));
}

MIRROR_CASE(Splitters, split_variadic) {
  const auto gm = symbolic_trace(
      [](Value x, Value rest) -> Value {
        Value a = relu(x);
        return a + getitem(rest, 0);
      },
      {"x", "*rest"});
  record(passes::split_module(*gm, by_name({})));
}

MIRROR_CASE(Splitters, tags) {
  const auto gm = tagged(shared(), {{"block_lin", "b"},
                                    {"add", "b"},
                                    {"relu", "c"},
                                    {"block_lin_1", "c"},
                                    {"mul", "c"},
                                    {"add_1", "d"}});
  passes::QualnameMap names;
  passes::SplitByTagsOptions options;
  options.fqn_mapping = &names;
  const std::string before = gm->graph().str();
  const auto made =
      record(passes::split_by_tags(*gm, {"a", "b", "c", "d"}, options));
  EXPECT_EQ(gm->graph().str(), before);
  expect_names(names);
  expect_outputs(made, {fill({3, 4}, 1)});
}

MIRROR_CASE(Splitters, tags_with_tuples) {
  passes::SplitByTagsOptions options;
  options.return_tuple = true;
  options.tag_of = [](const fx::Node& node) {
    return node.name() == "relu" ? "a" : "b";
  };
  const auto made =
      record(passes::split_by_tags(*first_needs_second(), {"a", "b"}, options));
  expect_outputs(made, {fill({3, 4}, 1)});
}

MIRROR_CASE(Splitters, tags_refused) {
  for (const Tags& tags : {Tags{{"relu", "b"}, {"neg", "a"}, {"add", "a"}},
                           Tags{{"relu", "a"}, {"add", "a"}},
                           Tags{{"relu", "a"}, {"neg", "c"}, {"add", "a"}}}) {
    const auto gm = tagged(first_needs_second(), tags);
    expect_error([&] { passes::split_by_tags(*gm, {"a", "b"}); });
  }
}

MIRROR_CASE(Splitters, lifted_subgraph) {
  const auto gm = shared();
  auto graph = std::make_unique<fx::Graph>();
  const fx::NodePtr x = graph->placeholder("x");
  const fx::NodePtr y = graph->call_module("block.lin", {x});
  const fx::NodePtr w = graph->get_attr("w");
  graph->output(graph->call_function("torch.add", {y, w}));
  passes::QualnameMap names;
  const auto made = passes::lift_subgraph_as_module(*gm, std::move(graph),
                                                    "part", "Part", &names);
  EXPECT_EQ(made->find_submodule("block.lin"), gm->find_submodule("block.lin"));
  expect_graph(made);
  expect_names(names);
  std::string children;
  for (const auto& [name, module] : made->named_modules())
    if (!name.empty()) children += (children.empty() ? "" : " ") + name;
  expect_text("children", children);
  expect_outputs(made, {fill({3, 4}, 1)});
}

MIRROR_CASE(Splitters, splitter_of_a_diamond) {
  split(symbolic_trace(sin_cos, {"a"}), {"sin", "cos"}, {fill({3, 4}, 1)});
}

MIRROR_CASE(Splitters, splitter_by_turns) {
  split(traced_turns(), {"relu", "add"}, {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(Splitters, splitter_of_small_parts) {
  split(traced_turns(), {"relu", "add"}, {fill({3, 4}, 1), fill({3, 4}, 2)},
        {.min_acc_module_size = 2});
  split(symbolic_trace(sin_cos, {"a"}), {"sin"}, {fill({3, 4}, 1)},
        {.min_acc_module_size = 3});
}

MIRROR_CASE(Splitters, splitter_keeps_numbers_inside) {
  const ValueList inputs = {fill({3, 4}, 1), fill({2, 6}, 2)};
  auto traced = [] { return symbolic_trace(with_sizes, {"x", "y"}); };
  split(traced(), {"relu", "size"}, inputs);
  split(traced(), {"relu", "size", "reshape"}, inputs);
  split(traced(), {"relu", "size"}, inputs, {.allow_non_tensor = true});
}

MIRROR_CASE(Splitters, splitter_limit) {
  expect_error([&] {
    passes::SplitterBase(traced_turns(), {fill({3, 4}, 1), fill({3, 4}, 2)},
                         supports({"relu", "add"}), {.max_acc_splits = 2})
        .generate_split_results();
  });
}

nn::Ref<fx::GraphModule> disordered() {
  auto gm = traced_turns();
  auto node = [&](const char* name) { return gm->graph().find_node(name); };
  node("x")->prepend(node("neg_1"));
  node("relu")->prepend(node("add"));
  node("y")->prepend(node("relu_2"));
  return gm;
}

MIRROR_CASE(Splitters, sorted_graphs) {
  auto gm = disordered();
  expect_graph(gm);
  passes::stable_topological_sort(*gm);
  expect_graph(gm);
  gm = disordered();
  passes::legalize_graph(*gm);
  expect_graph(gm);
  expect_outputs(gm, {fill({3, 4}, 1), fill({3, 4}, 2)});
}

MIRROR_CASE(Splitters, sorting_a_cycle) {
  const auto gm = traced_turns();
  fx::Graph& graph = gm->graph();
  graph.find_node("relu")->set_args({graph.find_node("neg_1")});
  const std::string before = graph.str();
  expect_error([&] { passes::stable_topological_sort(*gm); });
  expect_error([&] { passes::legalize_graph(*gm); });
  EXPECT_EQ(graph.str(), before);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
