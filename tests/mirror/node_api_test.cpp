// What nodes tell and take: order, users, arguments, notes, purity.
#include "fxjit/fx/purity.h"
#include "tests/mirror/mirror_case.h"

namespace fxjit::mirror {

MIRROR_AREA(NodeApi)

namespace TEST_FILE {

using fx::Graph;
using fx::Node;
using fx::NodePtr;
using fx::Opcode;

// x -> relu -> neg, and the sum of the last two.
class Chain {
 public:
  Chain() {
    x = graph.placeholder("x");
    a = graph.call_function("torch.relu", {x});
    b = graph.call_function("torch.neg", {a});
    c = graph.call_function("torch.add", {a, b});
    out = graph.output(c);
  }
  Graph graph;
  NodePtr x, a, b, c, out;
};

template <typename Nodes>
ValueList names_of(const Nodes& nodes) {
  ValueList names;
  for (const Node* node : nodes) names.emplace_back(node->name());
  return names;
}

ValueList users_of(const Graph& graph) {
  ValueList all;
  for (const Node* node : graph.nodes()) {
    ValueList names = names_of(node->users());
    names.insert(names.begin(), node->name());
    all.push_back(Value::list(names));
  }
  return all;
}

std::string text_of(const Value& value) {
  return repr(value, [](const Value& leaf, const void*) {
    return std::string(leaf.as_node()->name());
  });
}

Value notes_of(const Node* node) {
  ValueDict notes;
  for (const auto& [key, value] : node->meta()) notes.emplace_back(key, value);
  return Value::dict(notes);
}

ValueList impure(const Graph& graph) {
  ValueList names;
  for (const Node* node : graph.nodes())
    if (node->is_impure()) names.emplace_back(node->name());
  return names;
}

class Noisy : public nn::Custom<Noisy> {
 public:
  Noisy() : Custom("Noisy", {"x"}) {
    drop = register_module("drop", nn::Dropout::create(0.5));
    norm = register_module("norm", nn::BatchNorm1d::create(3));
  }
  Value forward(Value x) { return norm(drop(x)); }
  nn::Ref<nn::Dropout> drop;
  nn::Ref<nn::BatchNorm1d> norm;
};

MIRROR_CASE(NodeApi, neighbours) {
  const Chain chain;
  const std::vector<NodePtr> nodes = chain.graph.nodes().list();
  ValueList next, previous;
  bool same_graph = true;
  for (size_t i = 0; i + 1 < nodes.size(); ++i) {
    next.emplace_back(nodes[i]->next()->name());
    previous.emplace_back(nodes[i + 1]->prev()->name());
    same_graph = same_graph && &nodes[i]->graph() == &chain.graph;
  }
  expect_value("next", next);
  expect_value("previous", previous);
  expect_value("backwards", names_of(chain.graph.nodes().reversed()));
  expect_value("round", nodes.front()->prev() == nodes.back()->next());
  expect_value("root", fx::opcode_name(nodes.front()->prev()->op()));
  expect_value("same graph", same_graph);
}

MIRROR_CASE(NodeApi, order) {
  Chain chain;
  const std::vector<NodePtr> nodes = chain.graph.nodes().list();
  ValueList before;
  for (const Node* a : nodes) {
    ValueList line;
    for (const Node* b : nodes) line.emplace_back(a->precedes(b));
    before.push_back(Value::list(line));
  }
  expect_value("before", before);
  nodes[1]->append(nodes[0]);
  expect_value("moved", ValueList{nodes[0]->precedes(nodes[1]),
                                  nodes[1]->precedes(nodes[0])});
  const auto point = chain.graph.inserting_before(nodes[2]);
  const Node* const added =
      chain.graph.call_function("torch.sigmoid", {nodes[0]});
  expect_value("inserted",
               ValueList{nodes[0]->precedes(added), added->precedes(nodes[2]),
                         added->precedes(nodes[1])});
}

MIRROR_CASE(NodeApi, lines_kept_by_copies) {
  const Chain chain;
  int i = 0;
  for (NodePtr node : chain.graph.nodes())
    node->meta().set("stack_trace", "File \"model.py\", line " +
                                        std::to_string(i++) + ", in f\n    x");
  const auto lines_of = [](const Graph& graph) {
    ValueList lines;
    for (const Node* node : graph.nodes())
      lines.emplace_back(node->stack_trace());
    return lines;
  };
  expect_value("lines", lines_of(chain.graph));
  const auto made = chain.graph.copy();
  expect_value("copied", lines_of(*made));
  const NodePtr first = made->find_node("relu");
  first->meta().erase("stack_trace");
  const std::string left = first->stack_trace();
  expect_value("taken away", ValueList{left.empty() ? Value(None) : Value(left),
                                       chain.a->stack_trace()});
}

MIRROR_CASE(NodeApi, leaves_mapped) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr y = graph.placeholder("y");
  const Value args =
      Value::tuple({x, Value::list({1, Value::dict({{"k", y}, {"n", 2.5}})}),
                    Value::slice(x, None, 3), "text", None});
  expect_text("negated", text_of(fx::map_aggregate(args, [](const Value& a) {
                return a.is_number() ? -a : a;
              })));
  expect_text("swapped", text_of(fx::map_arg(args, [&](NodePtr n) -> Value {
                return n == x ? y : x;
              })));
  expect_text(
      "names",
      text_of(fx::map_arg(args, [](NodePtr n) -> Value { return n->name(); })));
  expect_text("alone", text_of(fx::map_aggregate(
                           7, [](const Value& a) { return a + 1; })));
  expect_text("none", text_of(fx::map_arg(Value::tuple({}),
                                          [](NodePtr n) { return Value(n); })));
}

MIRROR_CASE(NodeApi, functions_with_effects) {
  const fx::Wrapped counted = fx::wrap("cases_node_api.counted",
                                       [](Value x) -> Value { return x + 1; });
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  graph.call_function(fx::Target(counted.function()), {x}, {}, "first");
  graph.output(x);
  expect_value("before", impure(graph));
  const fx::Target target(counted.function());
  expect_value("same", fx::has_side_effect(target) == target);
  expect_value("after", impure(graph));
  expect_value("removed", graph.eliminate_dead_code());
  expect_value("nodes", names_of(graph.nodes()));
}

MIRROR_CASE(NodeApi, purity_of_nodes) {
  const auto gm = fx::symbolic_trace(filled(Noisy::create()));
  Graph& graph = gm->graph();
  const NodePtr x = graph.find_node("x");
  {
    const auto point = graph.inserting_after(x);
    graph.call_function("torch.relu", {x});
    graph.call_method("add", {x, 1});
    graph.call_function("torch._assert", {true, "no"});
    graph.get_attr("norm.weight");
  }
  expect_value("impure", impure(graph));
}

MIRROR_CASE(NodeApi, types_of_nodes) {
  const Chain chain;
  chain.x->set_type("torch.Tensor");
  chain.a->set_type("int");
  chain.b->set_type("'torch.nn.Module'");
  expect_graph(chain.graph);
  expect_value("none", chain.c->type());
  expect_text("of a copy", chain.graph.copy()->nodes().front()->format_node());
}

MIRROR_CASE(NodeApi, users_in_order) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  const NodePtr a = graph.call_function("torch.relu", {x});
  const NodePtr b = graph.call_function("torch.add", {x, a});
  const NodePtr c = graph.call_function("torch.mul", {x, x});
  graph.output(Value::list({x, b, c}));
  expect_value("users", users_of(graph));
  b->set_args({a, a});
  c->set_args({a, x});
  expect_value("changed", users_of(graph));
  b->set_args({x, a});
  expect_value("again", names_of(x->users()));
}

MIRROR_CASE(NodeApi, inputs_at_any_depth) {
  Graph graph;
  const NodePtr a = graph.placeholder("a");
  const NodePtr b = graph.placeholder("b");
  const NodePtr c = graph.placeholder("c");
  const NodePtr d = graph.placeholder("d");
  const NodePtr e = graph.placeholder("e");
  const Value inner = Value::tuple({a, Value::dict({{"k", Value::list({c})}})});
  const NodePtr node =
      graph.call_function("torch.cat", {Value::list({b, inner}), a},
                          {{"dim", Value::slice(d, b, e)}, {"out", a}});
  expect_value("inputs", names_of(node->all_input_nodes()));
  expect_value("none", names_of(a->all_input_nodes()));
  node->set_kwargs({{"x", Value::tuple({e, Value::dict({{"y", c}})})}});
  expect_value("after", names_of(node->all_input_nodes()));
  expect_text("node", node->format_node());
}

MIRROR_CASE(NodeApi, arguments_are_kept_immutable) {
  Graph graph;
  const NodePtr x = graph.placeholder("x");
  ValueList given{x, 1};
  const Value named = Value::dict({{"k", Value::list({2})}});
  const Node* const node =
      graph.call_function("torch.cat", {Value::list(given), named});
  given.emplace_back(2);
  expect_text("node", node->format_node());
  expect_value("equal", same(Value::tuple(node->args()),
                             Value::tuple({Value::list({x, 1}), named})));
}

MIRROR_CASE(NodeApi, notes_of_copied_nodes) {
  const Chain chain;
  chain.a->meta().set("mine", Value::list({1, Value::dict({{"k", 2}})}));
  chain.a->set_type("torch.Tensor");
  Graph other;
  const NodePtr z = other.placeholder("z");
  const NodePtr made = other.node_copy(*chain.a, [&](NodePtr) { return z; });
  made->meta().set("own", true);
  expect_value("made", notes_of(made));
  expect_value("source", notes_of(chain.a));
  expect_text("node", made->format_node());
}

MIRROR_CASE(NodeApi, uses_replaced_with_notes) {
  Chain chain;
  chain.a->meta().set("mine", 1);
  const auto point = chain.graph.inserting_after(chain.a);
  const NodePtr added = chain.graph.call_function("torch.tanh", {chain.x});
  ValueList asked;
  const auto changed = chain.a->replace_all_uses_with(
      added,
      [&](NodePtr user) {
        asked.emplace_back(user->name());
        return user != chain.b;
      },
      true);
  expect_value("asked", asked);
  expect_value("changed", names_of(changed));
  expect_value("notes", notes_of(added));
  expect_graph(chain.graph);
}

MIRROR_CASE(NodeApi, moved_to_where_it_is) {
  Chain chain;
  chain.a->prepend(chain.a);
  chain.a->append(chain.a);
  chain.a->prepend(chain.x);
  chain.b->append(chain.c);
  expect_value("order", names_of(chain.graph.nodes()));
  chain.out->prepend(chain.b);
  chain.b->append(chain.a);
  expect_value("order", names_of(chain.graph.nodes()));
  expect_error([&] { chain.graph.lint(); });
}

MIRROR_CASE(NodeApi, targets_changed) {
  const auto gm = fx::symbolic_trace(
      [](Value x, Value y) -> Value {
        return method(function("torch.add", {x, y}), "relu");
      },
      {"x", "y"});
  for (NodePtr node : gm->graph().nodes()) {
    if (node->target() == ops::get_function("torch.add"))
      node->set_target(ops::get_function("torch.mul"));
    if (node->is(Opcode::call_method)) node->set_target("sigmoid");
  }
  gm->recompile();
  expect_graph(gm);
  expect_code(gm);
  expect_outputs(gm, {fill({3}), fill({3}, 1)});
}

MIRROR_CASE(NodeApi, printed_in_all_forms) {
  Graph graph;
  const NodePtr x = graph.placeholder("x", {}, Value::list({1, None}));
  const NodePtr w = graph.get_attr("a.b");
  const NodePtr e =
      graph.call_module("mod.0", {x, w}, {{"k", Value::slice(None, w, 2)}});
  const NodePtr f =
      graph.call_method("view", {e, -1, Value::tuple({2, Ellipsis})});
  const NodePtr g =
      graph.call_function("torch.add", {f, 1.0}, {{"alpha", true}});
  const NodePtr out =
      graph.output(Value::dict({{"r", Value::tuple({g, DType::f16})}}));
  std::string nodes, names;
  for (const Node* node : graph.nodes()) {
    nodes += (nodes.empty() ? "" : "\n") + node->format_node();
    names += (names.empty() ? "" : " ") + std::string(node->name());
  }
  expect_text("nodes", nodes);
  EXPECT_EQ(out, graph.output_node());
  expect_text("names", names);
}

MIRROR_CASE(NodeApi, arguments_put_in_and_changed) {
  Chain chain;
  const NodePtr c = chain.c;
  c->insert_arg(0, Value::list({chain.x, chain.x}));
  c->insert_arg(3, "end");
  c->set_arg(1, chain.b);
  expect_text("node", c->format_node());
  expect_value("users", users_of(chain.graph));
  c->set_kwarg("alpha", chain.x);
  c->set_kwarg("alpha", 2);
  c->set_args({c->args().begin() + 1, c->args().begin() + 3});
  expect_text("node", c->format_node());
  expect_value("users", users_of(chain.graph));
}

}  // namespace TEST_FILE
}  // namespace fxjit::mirror
