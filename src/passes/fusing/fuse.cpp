#include "src/passes/fusing/fuse.h"

#include <algorithm>
#include <unordered_map>

#include "src/passes/fusing/grouping.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/shown_name.h"
#include "src/passes/origins.h"

namespace fxjit::passes {
namespace {

// By Region::Kind.
constexpr std::string_view kKindNames[] = {
    "rows", "columns", "contraction", "attention", "copies", "call"};

class Fuser {
 public:
  Fuser(const ModelGraph& model, const GroupingOptions& options)
      : model_(model), grouping_(group_nodes(model, options)) {}

  ModelGraph run() {
    out_.stage = GraphStage::fused;
    out_.graph = std::make_unique<fx::Graph>();
    out_.constants = model_.constants;
    out_.made = model_.made;
    copies_.assign(model_.graph->id_bound(), nullptr);
    for (fx::NodePtr node : model_.graph->nodes())
      if (node->is(fx::Opcode::placeholder)) emit(node);
    for (fx::NodePtr node : model_.graph->nodes())
      if (is_draw(*node)) emit(node);
    fx::NodePtr output = model_.graph->output_node();
    for (fx::NodePtr input : output->all_input_nodes()) emit(input);
    out_.graph->node_copy(*output,
                          [&](fx::NodePtr n) { return copies_[n->id()]; });
    return std::move(out_);
  }

 private:
  // Emits `wanted` and all it needs, producers first; no recursion, so that
  // deep graphs are fine.
  void emit(fx::NodePtr wanted) {
    std::vector<fx::NodePtr> stack{wanted};
    while (!stack.empty()) {
      fx::NodePtr node = stack.back();
      if (copies_[node->id()]) {
        stack.pop_back();
        continue;
      }
      const size_t before = stack.size();
      for (fx::NodePtr input : needs(node))
        if (!copies_[input->id()]) stack.push_back(input);
      if (stack.size() > before) continue;
      stack.pop_back();
      emit_ready(node);
    }
  }

  std::vector<fx::NodePtr> needs(fx::NodePtr node) const {
    const int32_t index = grouping_.group_of[node->id()];
    if (index < 0) {
      const auto inputs = node->all_input_nodes();
      return {inputs.begin(), inputs.end()};
    }
    return outside_inputs(grouping_.groups[index], index);
  }

  std::vector<fx::NodePtr> outside_inputs(const Group& group,
                                          int32_t index) const {
    std::vector<fx::NodePtr> inputs;
    for (const fx::Node* member : group.nodes)
      for (fx::NodePtr input : member->all_input_nodes())
        if (grouping_.group_of[input->id()] != index &&
            std::find(inputs.begin(), inputs.end(), input) == inputs.end())
          inputs.push_back(input);
    return inputs;
  }

  void emit_ready(fx::NodePtr node) {
    const int32_t index = grouping_.group_of[node->id()];
    if (index >= 0) return emit_region(index);
    copies_[node->id()] = out_.graph->node_copy(
        *node, [&](fx::NodePtr n) { return copies_[n->id()]; });
  }

  bool used_outside(const fx::Node& member, int32_t index) const {
    if (is_draw(member)) return true;
    for (const fx::Node* user : member.users())
      if (grouping_.group_of[user->id()] != index) return true;
    return false;
  }

  void emit_region(int32_t index) {
    const Group& group = grouping_.groups[index];
    Region region;
    region.kind = group.kind;
    region.domain = group.domain;
    region.inner_dims = group.inner_dims;
    region.inner_at = group.inner_at;
    region.graph = std::make_unique<fx::Graph>();
    const std::vector<fx::NodePtr> inputs = outside_inputs(group, index);
    std::unordered_map<const fx::Node*, fx::NodePtr> inner;
    for (fx::NodePtr input : inputs) {
      fx::NodePtr placeholder = region.graph->placeholder(input->name());
      placeholder->set_val(input->val());
      inner[input] = placeholder;
      region.apart.push_back(why_apart(group, *input));
    }
    ValueList results, vals;
    std::vector<fx::NodePtr> outputs;
    for (fx::NodePtr member : group.nodes) {
      fx::NodePtr copy = region.graph->node_copy(
          *member, [&](fx::NodePtr n) { return inner.at(n); });
      inner[member] = copy;
      note_origin(region, *member);
      if (region.way == ImageWay::none) region.way = way_of(*member);
      if (!used_outside(*member, index)) continue;
      results.push_back(copy);
      vals.push_back(member->val());
      outputs.push_back(member);
    }
    region.graph->output(Value::tuple(std::move(results)));
    region.label = label_of(*region.graph);
    call(std::move(region), inputs, outputs, std::move(vals));
  }

  // By the first member that reads it and has a reason.
  Apart why_apart(const Group& group, const fx::Node& input) const {
    for (const fx::Node* member : group.nodes) {
      if (!input.has_user(member)) continue;
      const Apart why = grouping_.apart(input, *member);
      if (why != Apart::none) return why;
    }
    return Apart::none;
  }

  static std::string label_of(const fx::Graph& graph) {
    constexpr size_t kLongest = 60;
    std::string text;
    for (const fx::Node* node : graph.nodes()) {
      if (!node->called_op()) continue;
      if (!text.empty()) text += '+';
      text += shown_name({*node->called_op(), node->args()});
      if (text.size() > kLongest) return text.substr(0, kLongest) + "...";
    }
    return text;
  }

  static void note_origin(Region& region, const fx::Node& member) {
    std::vector<std::string>& nodes = region.nodes.change();
    for (std::string& name : origins_of(member))
      if (std::find(nodes.begin(), nodes.end(), name) == nodes.end())
        nodes.push_back(std::move(name));
  }

  void call(Region region, const std::vector<fx::NodePtr>& inputs,
            const std::vector<fx::NodePtr>& outputs, ValueList vals) {
    const std::string name =
        std::string(kKindNames[static_cast<size_t>(region.kind)]) + "_" +
        std::to_string(out_.regions.size());
    ValueList args;
    for (fx::NodePtr input : inputs) args.push_back(copies_[input->id()]);
    fx::NodePtr node = out_.graph->call_module(name, std::move(args));
    node->set_val(Value::tuple(std::move(vals)));
    node->set_source(outputs.front()->source());
    out_.regions.emplace(name, std::move(region));
    for (size_t i = 0; i < outputs.size(); ++i) {
      fx::NodePtr item = out_.graph->call_function(
          item_op().canonical, {node, i}, {}, outputs[i]->name());
      item->set_val(outputs[i]->val());
      copies_[outputs[i]->id()] = item;
    }
  }

  const ModelGraph& model_;
  Grouping grouping_;
  ModelGraph out_;
  std::vector<fx::NodePtr> copies_;
};

}  // namespace

ModelGraph fuse(const ModelGraph& model, const GroupingOptions& options) {
  return Fuser(model, options).run();
}

}  // namespace fxjit::passes
