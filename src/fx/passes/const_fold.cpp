#include "fxjit/fx/passes/const_fold.h"

#include <algorithm>
#include <cctype>

#include "fxjit/fx/passes/split_module.h"
#include "src/fx/graph/written_values.h"
#include "src/fx/graph_module/module_members.h"
#include "src/fx/passes/replace_uses.h"

namespace fxjit::fx::passes {
namespace {

bool is_alphanumeric(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

bool has_impure_ops(const GraphModule& module) {
  for (const Node* node : module.graph().nodes()) {
    if (node->is(Opcode::call_function) && node->is_impure()) return true;
    if (!node->is(Opcode::call_module)) continue;
    const auto* const nested = dynamic_cast<const GraphModule*>(
        module.find_submodule(node->target_name()));
    if (nested && has_impure_ops(*nested)) return true;
  }
  return false;
}

struct ConstNodes {
  std::vector<bool> is_const;  // By node id.
  bool found = false;          // More than attributes.
};

ConstNodes find_const_nodes(const GraphModule& module,
                            const std::function<bool(const Node&)>& skip) {
  ConstNodes result;
  result.is_const.resize(module.graph().id_bound());
  // What is written differs from call to call, or must be made anew for each.
  const std::vector<bool> written = written_values(module);
  for (const Node* node : module.graph().nodes()) {
    if (node->is(Opcode::placeholder) || node->is(Opcode::output)) continue;
    const bool known = std::ranges::all_of(
        node->all_input_nodes(),
        [&](const Node* input) { return result.is_const[input->id()]; });
    if (!node->is(Opcode::get_attr) && !known) continue;
    if ((skip && skip(*node)) || written[node->id()] || node->is_impure())
      continue;
    if (node->is(Opcode::call_module)) {
      const auto* const nested = dynamic_cast<const GraphModule*>(
          module.find_submodule(node->target_name()));
      if (nested && has_impure_ops(*nested)) continue;
    }
    result.is_const[node->id()] = true;
    result.found = result.found || !node->is(Opcode::get_attr);
  }
  return result;
}

NodePtr call_of(Graph& graph, std::string_view target) {
  const auto calls = graph.find_nodes(Opcode::call_module, Target(target));
  return calls.empty() ? nullptr : calls[0];
}

// The submodules that a part calls become members of the whole.
void lift_modules(GraphModule& whole, const GraphModule& part) {
  for (const Node* node : part.graph().find_nodes(Opcode::call_module))
    put_member(whole, node->target_name(),
               part.find_member(node->target_name()));
}

// The constant part with its arguments, attributes all, read by itself.
std::unique_ptr<Graph> rooted(const GraphModule& part, const Node& call) {
  std::unique_ptr<Graph> graph = part.graph().copy();
  size_t next = 0;
  for (NodePtr input : graph->placeholders()) {
    const Node* const attribute = call.arg(next++).as_node();
    const InsertScope scope = graph->inserting_before(input);
    const NodePtr read =
        graph->create_node(Opcode::get_attr, attribute->target_name());
    read->copy_meta_from(*input);
    input->replace_all_uses_with(read);
    graph->erase_node(input);
  }
  return graph;
}

// Puts the nodes of `part` in the place of its call. Its results may be a tuple
// that is read by position.
void inline_call(Graph& graph, NodePtr call, const Graph& part) {
  std::vector<Value> copies(part.id_bound());
  auto mapped = [&](NodePtr node) { return copies[node->id()]; };
  const InsertScope scope = graph.inserting_before(call);
  size_t next = 0;
  Value result;
  for (const Node* node : part.nodes()) {
    if (node->is(Opcode::placeholder)) {
      copies[node->id()] = call->arg(next++);
    } else if (node->is(Opcode::output)) {
      result = map_arg(node->arg(0), mapped);
    } else {
      copies[node->id()] = graph.node_copy(*node, mapped);
    }
  }
  if (result.is_node()) {
    call->replace_all_uses_with(result.as_node());
  } else {
    const std::vector<NodePtr> reads = call->users().list();
    std::vector<std::pair<NodePtr, NodePtr>> items;
    for (NodePtr read : reads) {
      const auto i = static_cast<size_t>(read->arg(1).as_int());
      items.emplace_back(read, result.at(i).as_node());
    }
    replace_uses(items);
    for (NodePtr read : reads) graph.erase_node(read);
  }
  graph.erase_node(call);
}

}  // namespace

std::string get_unique_attr_name_in_module(const nn::Module& module,
                                           std::string name) {
  std::string legal;
  for (char c : name) {
    if (is_alphanumeric(c)) {
      legal += c;
    } else if (legal.empty() || legal.back() != '_') {
      legal += '_';
    }
  }
  if (std::isdigit(static_cast<unsigned char>(legal[0]))) legal = "_" + legal;
  while (has_member(module, legal)) {
    const size_t bar = legal.rfind('_');
    const std::string number =
        bar == legal.npos ? "" : legal.substr(bar + 1);
    const bool numbered =
        !number.empty() && number.find_first_not_of("0123456789") == number.npos;
    legal = numbered ? legal.substr(0, bar + 1) +
                           std::to_string(std::stoll(number) + 1)
                     : legal + "_1";
  }
  return legal;
}

nn::Ref<FoldedGraphModule> split_const_subgraphs(
    const GraphModule& module,
    const std::function<bool(const Node&)>& skip_folding) {
  const ConstNodes consts = find_const_nodes(module, skip_folding);
  if (!consts.found)
    return std::make_shared<FoldedGraphModule>(module, module.graph().copy());
  const nn::Ref<GraphModule> split = split_module(
      module,
      [&](const Node& node) { return consts.is_const[node.id()] ? 0 : 1; });
  Graph& graph = split->graph();
  const auto& const_part =
      dynamic_cast<const GraphModule&>(split->get_submodule("submod_0"));
  const auto* const rest =
      dynamic_cast<const GraphModule*>(split->find_submodule("submod_1"));
  if (rest) lift_modules(*split, *rest);
  lift_modules(*split, const_part);

  const NodePtr call = call_of(graph, "submod_0");
  std::unique_ptr<Graph> const_graph = rooted(const_part, *call);
  const bool several = const_graph->output_node()->arg(0).is_sequence();
  const std::string name =
      get_unique_attr_name_in_module(module, "_FX_CONST_FOLDED_ATTRS");
  split->set_attr(name, several ? Value::list({}) : Value(Tensor::empty({0})));
  {
    const InsertScope scope = graph.inserting_before(call);
    const NodePtr folded = graph.create_node(Opcode::get_attr, name);
    folded->copy_meta_from(*call);
    call->replace_all_uses_with(folded);
  }
  graph.erase_node(call);
  if (rest) inline_call(graph, call_of(graph, "submod_1"), rest->graph());
  graph.eliminate_dead_code();
  return std::make_shared<FoldedGraphModule>(*split, graph.copy(),
                                             std::move(const_graph), name);
}

}  // namespace fxjit::fx::passes
