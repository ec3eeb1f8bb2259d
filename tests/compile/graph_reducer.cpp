#include "tests/compile/graph_reducer.h"

#include "fxjit/fx/interpreter.h"

namespace fxjit::testing {
namespace {

GraphCase copy_of(const GraphCase& from) {
  return {from.graph->copy(), from.inputs, from.constants, from.rounded};
}

void drop_unused(GraphCase& c) {
  c.graph->eliminate_dead_code();
  const auto placeholders = c.graph->placeholders();
  for (size_t i = placeholders.size(); i-- > 0;) {
    if (placeholders[i]->num_users() > 0) continue;
    c.graph->erase_node(placeholders[i]);
    c.inputs.erase(c.inputs.begin() + static_cast<int64_t>(i));
  }
}

GraphCase with_one_result(const GraphCase& from, size_t result) {
  GraphCase made = copy_of(from);
  fx::Node* output = made.graph->output_node();
  output->set_arg(0, Value::tuple({output->arg(0).at(result)}));
  drop_unused(made);
  return made;
}

GraphCase with_input_for(const GraphCase& from, std::string_view node,
                         const Tensor& value) {
  GraphCase made = copy_of(from);
  fx::Node* first = made.graph->nodes().front();
  auto scope = made.graph->inserting_before(first);
  fx::Node* input = made.graph->placeholder("v_" + std::string(node));
  made.inputs.insert(made.inputs.begin(), value);
  made.graph->find_node(node)->replace_all_uses_with(input);
  drop_unused(made);
  return made;
}

GraphCase without(const GraphCase& from, std::string_view node,
                  std::string_view instead) {
  GraphCase made = copy_of(from);
  made.graph->find_node(node)->replace_all_uses_with(
      made.graph->find_node(instead));
  drop_unused(made);
  return made;
}

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
    for (size_t i = 0; i < count && count > 1; ++i)
      if (accept(with_one_result(best_, i))) return true;
    return false;
  }

  bool fewer_nodes() {
    const auto module = best_.module();
    fx::Interpreter interpreter(*module, /*garbage_collect_values=*/false);
    interpreter.run(best_.inputs);
    for (const fx::Node* node : module->graph().nodes()) {
      if (!node->is(fx::Opcode::call_function)) continue;
      const Value value = *interpreter.env.find(*node);
      if (!value.is_tensor()) continue;
      for (const fx::Node* input : node->all_input_nodes())
        if (interpreter.env.find(*input)->as_tensor().describe() ==
                value.as_tensor().describe() &&
            accept(without(best_, node->name(), input->name())))
          return true;
      if (accept(with_input_for(best_, node->name(), value.as_tensor())))
        return true;
    }
    return false;
  }

  GraphCase best_;
  const std::function<bool(const GraphCase&)>& fails_;
};

}  // namespace

GraphCase reduce_graph(GraphCase failing,
                       const std::function<bool(const GraphCase&)>& fails) {
  return Reducer(std::move(failing), fails).run();
}

}  // namespace fxjit::testing
