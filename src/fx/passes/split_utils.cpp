#include "fxjit/fx/passes/split_utils.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "fxjit/fx/passes/tools_common.h"
#include "src/fx/graph_module/module_members.h"

namespace fxjit::fx::passes {
namespace {

struct Component {
  size_t order = 0;
  std::string name;
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<NodePtr> inputs;  // Nodes of the original graph, as outputs.
  std::vector<NodePtr> outputs;
  std::unordered_map<const Node*, NodePtr> received;  // Inputs and attributes.
};

class TagSplit {
 public:
  TagSplit(const GraphModule& gm, const std::vector<std::string>& tags,
           const SplitByTagsOptions& options)
      : gm_(gm),
        options_(options),
        component_of_(gm.graph().id_bound()),
        copies_(gm.graph().id_bound()),
        in_main_(gm.graph().id_bound()),
        is_used_(gm.graph().id_bound()) {
    for (const std::string& tag : tags) {
      auto component = std::make_unique<Component>();
      component->order = components_.size();
      component->name = tag;
      by_tag_[tag] = component.get();
      components_.push_back(std::move(component));
    }
  }

  nn::Ref<GraphModule> run() {
    for (NodePtr node : gm_.graph().nodes()) {
      if (node->is(Opcode::placeholder)) copy_placeholder(node);
      if (is_callable_node(*node)) copy_call(node);
    }
    take_results();
    for (NodePtr node : used_)
      if (!node->is(Opcode::placeholder))
        component_of_[node->id()]->outputs.push_back(node);
    for (const auto& component : components_) finish(*component);
    return assemble();
  }

 private:
  void copy_placeholder(const Node* node) {
    const bool variadic = node->target_name().starts_with("*");
    const NodePtr copy = main_->create_node(
        Opcode::placeholder, variadic ? node->target() : Target(node->name()),
        node->args(), {}, node->name());
    copy->copy_meta_from(*node);
    in_main_[node->id()] = copy;
  }

  Component& component_of(const Node& node) const {
    std::string tag;
    if (options_.tag_of) {
      tag = options_.tag_of(node);
    } else if (const Value* found = node.meta().find("tag")) {
      tag = found->as_string();
    } else {
      throw AssertionError("Node does not have tag: " + node.format_node(),
                           node.error_context());
    }
    const auto known = by_tag_.find(tag);
    if (known == by_tag_.end()) throw KeyError(tag, node.error_context());
    return *known->second;
  }

  void check_order(const Component& component, const Node& node) const {
    size_t latest = 0;
    for (const Node* input : node.all_input_nodes())
      if (const Component* from = component_of_[input->id()])
        latest = std::max(latest, from->order);
    if (component.order >= latest) return;
    throw AssertionError(
        "Component " + component.name +
            " order must be >= max of its upstream components, order=" +
            std::to_string(component.order) +
            " and max=" + std::to_string(latest),
        node.error_context());
  }

  void mark_used(NodePtr node) {
    if (is_used_[node->id()]) return;
    is_used_[node->id()] = true;
    used_.push_back(node);
  }

  NodePtr inside(Component& component, NodePtr input) {
    if (component_of_[input->id()] == &component) return copies_[input->id()];
    const auto [entry, added] = component.received.try_emplace(input);
    if (!added) return entry->second;
    NodePtr made = nullptr;
    if (input->is(Opcode::get_attr)) {
      made = component.graph->create_node(Opcode::get_attr, input->target());
    } else {
      made = component.graph->placeholder(input->name());
      component.inputs.push_back(input);
      mark_used(input);
    }
    made->copy_meta_from(*input);
    return component.received[input] = made;
  }

  void copy_call(NodePtr node) {
    Component& component = component_of(*node);
    component_of_[node->id()] = &component;
    check_order(component, *node);
    copies_[node->id()] = component.graph->node_copy(
        *node, [&](NodePtr input) { return inside(component, input); });
  }

  // Attributes that the result reads become attributes of the whole.
  void take_results() {
    for (NodePtr node : gm_.graph().output_node()->all_input_nodes()) {
      if (!node->is(Opcode::get_attr)) {
        mark_used(node);
        continue;
      }
      const std::string name(node->name());
      in_main_[node->id()] = main_->create_node(Opcode::get_attr, name);
      in_main_[node->id()]->set_type(node->type());
      members_.emplace_back(name, gm_.find_member(node->target_name()));
    }
  }

  void finish(Component& component) {
    ValueList results;
    for (const Node* node : component.outputs)
      results.push_back(copies_[node->id()]);
    const bool single = results.size() == 1 && !options_.return_tuple;
    component.graph->output(single ? results[0]
                                   : Value::tuple(std::move(results)));
    QualnameMap names;
    members_.emplace_back(component.name,
                          nn::ModuleRef(lift_subgraph_as_module(
                              gm_, std::move(component.graph), component.name,
                              "GraphModule", &names)));
    note(names);
    ValueList args;
    for (const Node* input : component.inputs)
      args.push_back(in_main_[input->id()]);
    const NodePtr call = main_->create_node(Opcode::call_module, component.name,
                                            std::move(args));
    if (single) {
      in_main_[component.outputs[0]->id()] = call;
      return;
    }
    const Target getitem = ops::get_function("operator.getitem");
    for (size_t i = 0; i < component.outputs.size(); ++i)
      in_main_[component.outputs[i]->id()] =
          main_->call_function(getitem, {call, static_cast<int64_t>(i)});
  }

  // A name used by several parts stands for the last of them.
  void note(const QualnameMap& names) {
    if (!options_.fqn_mapping) return;
    QualnameMap& mapping = *options_.fqn_mapping;
    for (const auto& [before, now] : names) {
      const auto [entry, added] = noted_.emplace(before, mapping.size());
      if (added) {
        mapping.emplace_back(before, now);
      } else {
        mapping[entry->second].second = now;
      }
    }
  }

  nn::Ref<GraphModule> assemble() {
    const Node* const output = gm_.graph().output_node();
    main_->output(map_arg(output->arg(0), [&](NodePtr node) {
      return Value(in_main_[node->id()]);
    }));
    main_->set_codegen(gm_.graph().shared_codegen());
    return std::make_shared<GraphModule>(members_, std::move(main_));
  }

  const GraphModule& gm_;
  const SplitByTagsOptions& options_;
  std::vector<std::unique_ptr<Component>> components_;
  std::unordered_map<std::string, Component*> by_tag_;
  std::vector<Component*> component_of_;  // By node id, as those that follow.
  std::vector<NodePtr> copies_;
  std::vector<NodePtr> in_main_;
  std::vector<bool> is_used_;
  std::vector<NodePtr> used_;  // Passed between components, or returned.
  std::unique_ptr<Graph> main_ = std::make_unique<Graph>();
  nn::AttributeMap members_;
  std::unordered_map<std::string, size_t> noted_;  // In fqn_mapping.
};

}  // namespace

HolderModule::HolderModule(
    const std::vector<std::pair<std::string, nn::ModuleRef>>& modules)
    : Module("HolderModule") {
  for (const auto& [name, module] : modules) register_module(name, module);
}

nn::Ref<GraphModule> lift_subgraph_as_module(const GraphModule& gm,
                                             std::unique_ptr<Graph> subgraph,
                                             std::string_view comp_name,
                                             const std::string& class_name,
                                             QualnameMap* names) {
  std::unordered_set<std::string_view> seen;
  for (const Node* node : subgraph->nodes()) {
    if (!names || !refers_to_module(*node)) continue;
    const std::string_view target = node->target_name();
    if (seen.insert(target).second)
      names->emplace_back(std::string(target),
                          std::string(comp_name) + "." + std::string(target));
  }
  return GraphModule::create(gm, std::move(subgraph), class_name);
}

nn::Ref<GraphModule> split_by_tags(const GraphModule& gm,
                                   const std::vector<std::string>& tags,
                                   const SplitByTagsOptions& options) {
  return TagSplit(gm, tags, options).run();
}

}  // namespace fxjit::fx::passes
