// Editing graphs: hooks, purity, normal forms of calls, refused edits.
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(Editing)

namespace TEST_FILE {

using fx::Graph;
using fx::Node;
using fx::NodePtr;
using fx::Opcode;
using fx::symbolic_trace;
namespace F = nn::functional;

Value f(Value x) { return relu(x + 1); }

nn::Ref<fx::GraphModule> traced() { return symbolic_trace(f, {"x"}, "f"); }

std::string text_of(const Node* node) { return std::string(node->name()); }

template <typename Nodes>
std::string list_of(const Nodes& nodes) {
  std::string text;
  for (const Node* node : nodes)
    text += (text.empty() ? "" : ", ") + text_of(node);
  return "[" + text + "]";
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += (text.empty() ? "" : "\n") + line;
  return text;
}

std::string print_leaf(const Value& leaf, const void*) {
  return text_of(leaf.as_node());
}

class Effect : public nn::Custom<Effect> {
 public:
  Effect() : Custom("Effect", {"x"}) {}
  bool is_impure() const override { return true; }
  Value forward(Value x) { return x + 1; }
};

class WithEffect : public nn::Custom<WithEffect> {
 public:
  WithEffect() : Custom("WithEffect", {"x"}) {
    effect = register_module("effect", Effect::create());
    pure = register_module("pure", nn::ReLU::create());
  }
  Value forward(Value x) {
    effect(x);
    pure(x);
    return x * 2;
  }
  nn::Ref<Effect> effect;
  nn::Ref<nn::ReLU> pure;
};

class KeepEffects : public fx::Tracer {
  bool is_leaf_module(const nn::Module&, std::string_view) const override {
    return true;
  }
};

class Normal : public nn::Custom<Normal> {
 public:
  Normal() : Custom("M", {"x", "y"}) {
    lin = register_module("lin", nn::Linear::create(2, 2));
  }
  Value forward(Value x, Value y) {
    const Value a = relu(x);
    const Value b = F::gelu(a);
    const Value c = F::relu(lin(b));
    const Value d = function("torch.cat", {Value::list({c, y}), 1});
    const Value e = function("torch.flatten", {d, 1});
    const Value g = function("torch.mean", {e}, {{"dim", 1}});
    const Value h =
        function("torch.transpose", {g}, {{"dim1", 0}, {"dim0", 1}});
    const Value i = F::softmax(h, 1);
    const Value j = i + function("torch.matmul", {x}, {{"other", y}});
    return method(F::linear(j, y), "sum");
  }
  nn::Ref<nn::Linear> lin;
};

MIRROR_CASE(Editing, hooks) {
  const auto gm = traced();
  std::vector<std::string> seen;
  gm->register_create_node_hook(
      [&](Node& node) { seen.push_back("create " + text_of(&node)); });
  gm->register_erase_node_hook(
      [&](Node& node) { seen.push_back("erase " + text_of(&node)); });
  gm->register_replace_node_hook(
      [&](Node& old_node, std::string_view new_name, Node& user) {
        seen.push_back(text_of(&old_node) + " by " + std::string(new_name) +
                       " in " + text_of(&user));
      });
  Graph& graph = gm->graph();
  const NodePtr relu = graph.find_node("relu");
  const NodePtr add = graph.find_node("add");
  NodePtr neg = nullptr;
  {
    const auto scope = graph.inserting_after(relu);
    neg = graph.call_function("torch.neg", {add});
  }
  relu->replace_all_uses_with(neg);
  graph.erase_node(relu);
  neg->rename("minus");
  graph.output_node()->replace_input_with(neg, add);
  graph.eliminate_dead_code();
  expect_text("seen", joined_lines(seen));
}

MIRROR_CASE(Editing, dead_code) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value {
        relu(x) + 1;
        const Value kept = function("torch.neg", {x});
        sigmoid(kept);
        return kept;
      },
      {"x"}, "g");
  expect_value("changed", gm->graph().eliminate_dead_code());
  expect_graph(gm);
  expect_value("again", gm->graph().eliminate_dead_code());
}

MIRROR_CASE(Editing, modules_with_side_effects) {
  const auto root = WithEffect::create();
  const auto gm = fx::GraphModule::create(*root, KeepEffects().trace(*root));
  expect_value("changed", gm->graph().eliminate_dead_code());
  expect_graph(gm);
}

MIRROR_CASE(Editing, purity_by_predicate) {
  const auto gm = traced();
  Graph& graph = gm->graph();
  const NodePtr x = graph.nodes().front();
  {
    const auto scope = graph.inserting_after(x);
    graph.call_function("torch.neg", {x});
    graph.call_function("torch.sigmoid", {x});
  }
  expect_value("changed", graph.eliminate_dead_code([](const Node& node) {
    return node.is_impure() || node.name() == "neg";
  }));
  expect_graph(graph);
}

MIRROR_CASE(Editing, normalized_arguments) {
  const auto gm = symbolic_trace(Normal::create());
  std::vector<std::string> lines;
  for (const Node* node : gm->graph().nodes()) {
    for (const bool only_kwargs : {false, true}) {
      const auto pair = node->normalized_arguments(*gm, only_kwargs);
      std::string text = "None";
      if (pair) {
        ValueDict kwargs;
        for (const auto& [name, value] : pair->kwargs)
          kwargs.emplace_back(name, value);
        text = repr(Value::tuple(pair->args), print_leaf) + " " +
               repr(Value::dict(std::move(kwargs)), print_leaf);
      }
      lines.push_back(text_of(node) + ": " + text);
    }
  }
  expect_text("all", joined_lines(lines));
  const Node* const lin = gm->graph().find_node("lin");
  expect_error([&] { lin->normalized_arguments(nn::Module()); });
}

MIRROR_CASE(Editing, refused_edits) {
  const auto gm = traced();
  Graph& graph = gm->graph();
  Graph foreign;
  const NodePtr other = foreign.placeholder("z");
  const NodePtr x = graph.find_node("x");
  const NodePtr add = graph.find_node("add");
  expect_error([&] { graph.erase_node(x); });
  expect_error([&] { graph.erase_node(other); });
  expect_error([&] { (void)graph.inserting_before(other); });
  expect_error([&] { (void)graph.inserting_after(other); });
  expect_error([&] { x->append(other); });
  expect_error([&] { add->set_arg(5, x); });
  expect_error([&] { add->insert_arg(7, x); });
  expect_error([&] { fx::opcode_from_name("call_thing"); });
  foreign.placeholder("x");
  expect_error([&] { foreign.output_node(); });
  add->meta().set("a", 1);
  expect_error(
      [&] { x->replace_all_uses_with(add, nullptr, /*propagate_meta=*/true); });
  expect_graph(gm);
  graph.lint();
}

MIRROR_CASE(Editing, foreign_and_early_nodes) {
  Graph graph, foreign;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.call_function("torch.neg", {x});
  graph.output(y);
  NodePtr early = nullptr;
  {
    const auto scope = graph.inserting_before(y);
    early = graph.call_function("torch.relu", {y});
  }
  expect_error([&] { graph.lint(); });
  graph.erase_node(early);
  graph.lint();
  graph.call_function("torch.relu", {foreign.placeholder("z")});
  expect_error([&] { graph.lint(); });
}

MIRROR_CASE(Editing, moving_nodes) {
  const auto gm = symbolic_trace(
      [](Value x, Value y) -> Value {
        const Value positive = relu(x);
        return Value::tuple({positive, function("torch.neg", {y})});
      },
      {"x", "y"}, "f");
  const NodePtr relu = gm->graph().find_node("relu");
  const NodePtr neg = gm->graph().find_node("neg");
  relu->prepend(neg);
  expect_graph(gm);
  neg->append(neg);
  relu->append(neg);
  expect_graph(gm);
  expect_value("size", gm->graph().size());
}

MIRROR_CASE(Editing, arguments) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const NodePtr node = graph.call_function("torch.clamp", {x}, {{"min", y}});
  node->insert_arg(1, Value::list({y, 2}));
  node->set_kwarg(
      "max", Value::dict({{"k", Value::tuple({x, Value::slice(y, None)})}}));
  node->set_arg(0, y);
  graph.output(node);
  expect_graph(graph);
  expect_text("inputs", list_of(node->all_input_nodes()));
  expect_text("users", list_of(x->users()) + " " + list_of(y->users()));
  node->replace_input_with(y, x);
  expect_graph(graph);
  node->set_args({});
  node->set_kwargs({});
  expect_text("left", list_of(x->users()) + " " + list_of(y->users()));
}

MIRROR_CASE(Editing, copies_and_names) {
  Graph graph, copied;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a =
      graph.create_node(Opcode::call_module, "linear_mod", {x}, {}, "foo_1_1");
  const NodePtr b =
      graph.create_node(Opcode::call_module, "add", {x}, {}, "foo_1");
  graph.output(Value::tuple({a, b}));
  fx::ValueMap values;
  copied.output(copied.graph_copy(graph, values));
  expect_graph(copied);
  const Node* const again =
      copied.node_copy(*a, [&](NodePtr n) { return values.at(n); });
  expect_text("again", text_of(again));
  expect_text("keyword",
              text_of(graph.call_function("torch.add", {x, x}, {}, "if")));
  expect_text("method", text_of(graph.call_method("__add__", {x, x})));
  expect_text("module", text_of(graph.call_module("a.0.B-c", {x})));
}

MIRROR_CASE(Editing, found_nodes) {
  const auto gm = symbolic_trace(
      [](Value x) -> Value { return method(relu(relu(x) + 1), "relu"); }, {"x"},
      "f");
  Graph& graph = gm->graph();
  const fx::Target torch_relu = ops::get_function("torch.relu");
  expect_text("functions",
              list_of(graph.find_nodes(Opcode::call_function, torch_relu)));
  expect_text("methods",
              list_of(graph.find_nodes(Opcode::call_method, "relu")));
  expect_text("inputs", list_of(graph.find_nodes(Opcode::placeholder)));
  expect_text("output", text_of(graph.output_node()));
}

MIRROR_CASE(Editing, code_transformed) {
  const auto gm = traced();
  gm->graph()
      .on_generate_code([](fx::BodyTransform) {
        return [](std::vector<std::string> body) {
          body.insert(body.begin(), "print('called')\n");
          return body;
        };
      })
      .keep();
  gm->recompile();
  expect_code(gm);
}

MIRROR_CASE(Editing, none_for_a_node) {
  const auto gm = traced();
  Graph& graph = gm->graph();
  const NodePtr nothing = nullptr;
  const NodePtr x = graph.find_node("x");
  const NodePtr add = graph.find_node("add");
  const NodePtr relu = graph.find_node("relu");
  expect_error([&] { graph.erase_node(nothing); });
  expect_error([&] { x->prepend(nothing); });
  relu->replace_input_with(nothing, x);
  expect_graph(graph);
  relu->replace_input_with(add, nothing);
  relu->replace_all_uses_with(nothing);
  expect_graph(graph);
  expect_text("none",
              graph.call_function("torch.neg", {nothing})->format_node());
  expect_error([&] { gm->set_graph(nullptr); });
  expect_error([&] { fx::GraphModule(nn::AttributeMap(), nullptr); });
}

MIRROR_CASE(Editing, nothing_behind_the_result) {
  const auto gm = symbolic_trace([](Value x, Value y) -> Value { return x + y; },
                                 {"x", "y"}, "f");
  const std::string before = gm->graph().str();
  expect_error([&] {
    fx::replace_pattern(
        *gm, [](Value x) -> Value { return x; },
        [](Value x) -> Value { return relu(x); });
  });
  EXPECT_EQ(gm->graph().str(), before);
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
