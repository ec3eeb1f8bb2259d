#include "src/check/reducer.h"

#include <set>
#include <vector>

#include "fxjit/error.h"

namespace fxjit::checking {
namespace {

bool is_call(const fx::Node& node) {
  return node.is(fx::Opcode::call_function) ||
         node.is(fx::Opcode::call_method) || node.is(fx::Opcode::call_module);
}

// Whether a placeholder can take it: graphs name what containers hold.
bool is_plain(const Value& value) {
  return value.is_tensor() || value.is_number() || value.is_bool();
}

void drop_unused(GraphCase& c) {
  c.graph->eliminate_dead_code(
      [&](const fx::Node& node) { return is_impure(c, node); });
  const auto placeholders = c.graph->placeholders();
  for (size_t i = placeholders.size(); i-- > 0;) {
    if (placeholders[i]->num_users() > 0) continue;
    c.graph->erase_node(placeholders[i]);
    c.inputs.erase(c.inputs.begin() + static_cast<int64_t>(i));
  }
}

GraphCase without_result(const GraphCase& from, size_t result) {
  GraphCase made = from.copy();
  fx::NodePtr output = made.graph->output_node();
  ValueList rest = output->arg(0).as_sequence();
  rest.erase(rest.begin() + static_cast<int64_t>(result));
  output->set_arg(0, Value::tuple(std::move(rest)));
  drop_unused(made);
  return made;
}

GraphCase with_one_result(const GraphCase& from, size_t result) {
  GraphCase made = from.copy();
  fx::NodePtr output = made.graph->output_node();
  output->set_arg(0, Value::tuple({output->arg(0).at(result)}));
  drop_unused(made);
  return made;
}

// An input in place of the node, which is named after it.
void put_input_for(GraphCase& c, fx::NodePtr node, const Value& value) {
  auto scope = c.graph->inserting_before(c.graph->nodes().front());
  const fx::NodePtr input =
      c.graph->placeholder("v_" + std::string(node->name()));
  c.inputs.insert(c.inputs.begin(), value);
  node->replace_all_uses_with(input);
}

GraphCase with_input_for(const GraphCase& from, std::string_view node,
                         const Value& value) {
  GraphCase made = from.copy();
  const fx::NodePtr old = made.graph->find_node(node);
  put_input_for(made, old, value);
  made.graph->erase_node(old);
  drop_unused(made);
  return made;
}

// `instead` empty: the node has no users.
GraphCase without(const GraphCase& from, std::string_view node,
                  std::string_view instead) {
  GraphCase made = from.copy();
  const fx::NodePtr old = made.graph->find_node(node);
  if (!instead.empty())
    old->replace_all_uses_with(made.graph->find_node(instead));
  made.graph->erase_node(old);
  drop_unused(made);
  return made;
}

size_t calls_in(const fx::Graph& graph) {
  size_t calls = 0;
  for (const fx::Node* node : graph.nodes()) calls += is_call(*node);
  return calls;
}

class Reducer {
 public:
  Reducer(GraphCase failing, const Fails& fails)
      : best_(std::move(failing)), fails_(fails) {}

  GraphCase run() {
    keep_last_calls();
    while (fewer_results() || fewer_nodes()) {
    }
    return std::move(best_);
  }

 private:
  bool accept(GraphCase candidate) {
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  // Twice as many each time: large graphs become small ones at once.
  void keep_last_calls() {
    const size_t all = calls_in(*best_.graph);
    const Values values = values_of_nodes(best_);
    for (size_t calls = 1; calls < all; calls *= 2)
      if (accept(last_calls(best_, calls, values))) return;
  }

  bool fewer_results() {
    const size_t count = best_.graph->output_node()->arg(0).size();
    for (size_t i = 0; i < count && count > 2; ++i)
      if (accept(with_one_result(best_, i))) return true;
    for (size_t i = 0; i < count; ++i)
      if (accept(without_result(best_, i))) return true;
    return false;
  }

  // Later nodes first: with them goes what only they need.
  bool fewer_nodes() {
    const Values values = values_of_nodes(best_);
    for (const fx::Node* node : best_.graph->nodes().reversed())
      if (is_call(*node) && leave_out(*node, values)) return true;
    return false;
  }

  bool leave_out(const fx::Node& node, const Values& values) {
    const std::string name(node.name());
    if (node.num_users() == 0) return accept(without(best_, name, ""));
    const auto value = values.find(name);
    if (value == values.end() || !is_plain(value->second)) return false;
    for (const fx::Node* input : node.all_input_nodes()) {
      const auto other = values.find(std::string(input->name()));
      if (other != values.end() && alike(other->second, value->second) &&
          accept(without(best_, name, input->name())))
        return true;
    }
    return accept(with_input_for(best_, name, value->second));
  }

  static bool alike(const Value& a, const Value& b) {
    return a.is_tensor() && b.is_tensor() &&
           a.as_tensor().describe() == b.as_tensor().describe();
  }

  GraphCase best_;
  const Fails& fails_;
};

// The last calls, with the calls whose containers they read.
std::set<const fx::Node*> kept_calls(const fx::Graph& graph, size_t calls,
                                     const Values& values) {
  std::set<const fx::Node*> kept;
  for (const fx::Node* node : graph.nodes().reversed()) {
    if (!is_call(*node)) continue;
    if (kept.size() < calls) kept.insert(node);
    if (!kept.contains(node)) continue;
    for (const fx::Node* input : node->all_input_nodes()) {
      const auto value = values.find(std::string(input->name()));
      if (is_call(*input) &&
          (value == values.end() || !is_plain(value->second)))
        kept.insert(input);
    }
  }
  return kept;
}

void put_number_for(fx::NodePtr node, const Value& number) {
  const auto put = [&](const Value& value) {
    return map_leaves(value, [&](const Value& leaf) {
      return leaf.is_node() && leaf.as_node() == node ? number : leaf;
    });
  };
  const auto users = node->users();
  for (const fx::NodePtr user : std::vector(users.begin(), users.end())) {
    ValueList args;
    for (const Value& arg : user->args()) args.push_back(put(arg));
    Kwargs kwargs;
    for (const auto& [name, arg] : user->kwargs())
      kwargs.emplace_back(name, put(arg));
    user->set_args_kwargs(std::move(args), std::move(kwargs));
  }
}

}  // namespace

GraphCase reduce_graph(GraphCase failing, const Fails& fails) {
  return Reducer(std::move(failing), fails).run();
}

GraphCase prefix_of(const GraphCase& from, std::string_view node) {
  GraphCase made = from.copy();
  const fx::NodePtr last = made.graph->find_node(node);
  FXJIT_CHECK(last, "the graph has the node");
  made.graph->output_node()->set_arg(0, Value::tuple({Value(last)}));
  std::vector<fx::NodePtr> behind;
  for (fx::NodePtr at = made.graph->output_node()->prev(); at != last;
       at = at->prev())
    behind.push_back(at);
  for (const fx::NodePtr at : behind)
    if (!at->is(fx::Opcode::placeholder)) made.graph->erase_node(at);
  drop_unused(made);
  return made;
}

GraphCase with_numbers_inside(const GraphCase& from) {
  GraphCase made = from.copy();
  const auto placeholders = made.graph->placeholders();
  for (size_t i = placeholders.size(); i-- > 0;) {
    if (!made.inputs[i].is_number()) continue;
    put_number_for(placeholders[i], made.inputs[i]);
    made.graph->erase_node(placeholders[i]);
    made.inputs.erase(made.inputs.begin() + static_cast<int64_t>(i));
  }
  return made;
}

GraphCase last_calls(const GraphCase& from, size_t calls,
                     const Values& values) {
  GraphCase made = from.copy();
  const std::set<const fx::Node*> kept =
      kept_calls(*made.graph, calls, values);
  for (const fx::NodePtr node : made.graph->nodes().list()) {
    if (!is_call(*node) || kept.contains(node)) continue;
    const auto value = values.find(std::string(node->name()));
    if (value != values.end() && is_plain(value->second) &&
        node->num_users() > 0)
      put_input_for(made, node, value->second);
  }
  // Without users, writes among them.
  std::vector<fx::NodePtr> rest;
  for (const fx::NodePtr node : made.graph->nodes().reversed())
    if (is_call(*node) && !kept.contains(node) && node->num_users() == 0)
      rest.push_back(node);
  for (const fx::NodePtr node : rest)
    if (node->num_users() == 0) made.graph->erase_node(node);
  drop_unused(made);
  return made;
}

}  // namespace fxjit::checking
