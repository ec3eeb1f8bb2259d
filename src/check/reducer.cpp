#include "src/check/reducer.h"

#include <map>

#include "fxjit/fx/interpreter.h"

namespace fxjit::checking {
namespace {

void drop_unused(GraphCase& c) {
  c.graph->eliminate_dead_code();
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

GraphCase with_input_for(const GraphCase& from, std::string_view node,
                         const Tensor& value) {
  GraphCase made = from.copy();
  fx::NodePtr first = made.graph->nodes().front();
  auto scope = made.graph->inserting_before(first);
  fx::NodePtr input = made.graph->placeholder("v_" + std::string(node));
  made.inputs.insert(made.inputs.begin(), value);
  const fx::NodePtr old = made.graph->find_node(node);
  old->replace_all_uses_with(input);
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

// Keeps values as they are when they are made, before later writes.
class Snapshots : public fx::Interpreter {
 public:
  explicit Snapshots(const fx::GraphModule& module)
      : Interpreter(module, /*garbage_collect_values=*/false) {}

  Value run_node(const fx::Node& node) override {
    const Value value = Interpreter::run_node(node);
    if (value.is_tensor())
      values.emplace(node.name(), value.as_tensor().clone());
    return value;
  }

  std::map<std::string, Tensor, std::less<>> values;
};

class Reducer {
 public:
  Reducer(GraphCase failing, const std::function<bool(const GraphCase&)>& fails)
      : best_(std::move(failing)), fails_(fails) {}

  GraphCase run() {
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
    const GraphRun run = best_.run();
    Snapshots interpreter(*run.module);
    interpreter.run(run.inputs);
    for (const fx::Node* node : best_.graph->nodes().reversed()) {
      if (!node->is(fx::Opcode::call_function) &&
          !node->is(fx::Opcode::call_method))
        continue;
      if (leave_out(*node, interpreter.values)) return true;
    }
    return false;
  }

  using Values = std::map<std::string, Tensor, std::less<>>;

  bool leave_out(const fx::Node& node, const Values& values) {
    const std::string name(node.name());
    if (node.num_users() == 0) return accept(without(best_, name, ""));
    const auto value = values.find(name);
    if (value == values.end()) return false;
    for (const fx::Node* input : node.all_input_nodes()) {
      const auto other = values.find(std::string(input->name()));
      if (other != values.end() &&
          other->second.describe() == value->second.describe() &&
          accept(without(best_, name, input->name())))
        return true;
    }
    return accept(with_input_for(best_, name, value->second));
  }

  GraphCase best_;
  const std::function<bool(const GraphCase&)>& fails_;
};

}  // namespace

GraphCase reduce_graph(GraphCase failing,
                       const std::function<bool(const GraphCase&)>& fails) {
  return Reducer(std::move(failing), fails).run();
}

}  // namespace fxjit::checking
