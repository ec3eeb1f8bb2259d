#include "fxjit/fx/passes/split_module.h"

#include <algorithm>
#include <variant>

#include "src/fx/passes/split.h"

namespace fxjit::fx::passes {
namespace {

// Belongs to the graph as a whole, not to a partition.
bool stays_outside(const Node& node) {
  return node.is(Opcode::placeholder) || node.is(Opcode::get_attr) ||
         node.is(Opcode::output);
}

}  // namespace

Split::Split(const GraphModule& m, const SplitOptions& options,
             QualnameMap* qualname_map)
    : m_(m),
      options_(options),
      qualname_map_(qualname_map),
      partition_of_(m.graph().id_bound(), kNone),
      copies_(m.graph().id_bound()),
      is_output_(m.graph().id_bound()),
      in_base_(m.graph().id_bound()) {}

nn::Ref<GraphModule> Split::run(
    const std::function<int64_t(const Node&)>& split_callback) {
  assign(split_callback);
  record_uses();
  const std::vector<size_t> order = sorted();
  for (size_t index : order) make_inputs(partitions_[index]);
  copy_calls();
  if (!options_.keep_original_order || partitions_.empty()) {
    for (NodePtr node : m_.graph().nodes()) copy_to_base(node);
    for (size_t index : order) finish(partitions_[index]);
  } else {
    for (NodePtr node : m_.graph().placeholders()) copy_to_base(node);
    for (Partition& partition : partitions_) {
      for (NodePtr input : partition.inputs) copy_to_base(input);
      finish(partition);
    }
  }
  for (const Node* output : m_.graph().find_nodes(Opcode::output))
    base_->output(map_arg(output->arg(0), [&](NodePtr node) {
      copy_to_base(node);  // An attribute that no partition reads.
      return Value(base_node(*node));
    }));
  auto made = std::make_shared<GraphModule>(base_members_, std::move(base_));
  return made;
}

void Split::assign(
    const std::function<int64_t(const Node&)>& split_callback) {
  std::unordered_map<int64_t, size_t> known;
  const std::string affix =
      options_.partition_affix.empty() ? "" : options_.partition_affix + "_";
  for (NodePtr node : m_.graph().nodes()) {
    if (stays_outside(*node)) continue;
    const int64_t id = split_callback(*node);
    const auto [entry, added] = known.emplace(id, partitions_.size());
    if (added)
      partitions_.emplace_back().submod_name =
          "submod_" + affix + std::to_string(id);
    partition_of_[node->id()] = entry->second;
  }
}

void Split::record_uses() {
  for (NodePtr node : m_.graph().nodes()) {
    if (node->is(Opcode::placeholder) || node->is(Opcode::get_attr)) continue;
    for (NodePtr input : node->all_input_nodes())
      record_use(input, partition_of_[node->id()]);
  }
}

void Split::record_use(NodePtr made, size_t used_by) {
  const size_t made_by = partition_of_[made->id()];
  if (made_by == used_by) return;
  if (made_by != kNone) {
    if (!is_output_[made->id()]) partitions_[made_by].outputs.push_back(made);
    is_output_[made->id()] = true;
    if (used_by != kNone) partitions_[made_by].dependents.add(used_by);
  }
  if (used_by == kNone) return;
  Partition& user = partitions_[used_by];
  if (user.received.emplace(made, nullptr).second) user.inputs.push_back(made);
  if (made_by != kNone) user.dependencies.add(made_by);
}

// Depth first from the partitions that need no other, as torch orders them.
std::vector<size_t> Split::sorted() const {
  std::vector<size_t> missing;
  std::vector<size_t> ready;
  for (size_t i = 0; i < partitions_.size(); ++i) {
    missing.push_back(partitions_[i].dependencies.list.size());
    if (missing[i] == 0) ready.push_back(i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t next = ready.back();
    ready.pop_back();
    order.push_back(next);
    for (size_t dependent : partitions_[next].dependents.list)
      if (--missing[dependent] == 0) ready.push_back(dependent);
  }
  if (order.size() != partitions_.size())
    throw RuntimeError("cycle exists between partitions!");
  return order;
}

nn::Member Split::attribute(std::string_view target) const {
  nn::Member member = m_.find_member(target);
  if (std::holds_alternative<std::monostate>(member))
    throw AttributeError("Node target " + std::string(target) + " not found!");
  return member;
}

// Modules handed around as attributes are read inside the partition; they come
// after the inputs that are arguments.
void Split::make_inputs(Partition& partition) {
  auto is_module = [&](const Node* node) {
    return node->is(Opcode::get_attr) &&
           std::holds_alternative<nn::ModuleRef>(
               attribute(node->target_name()));
  };
  const auto modules = std::stable_partition(
      partition.inputs.begin(), partition.inputs.end(),
      [&](const Node* node) { return !is_module(node); });
  size_t counter = 0;
  for (auto at = partition.inputs.begin(); at != modules; ++at)
    partition.received[*at] = make_input(partition, *at, &counter);
  for (auto at = modules; at != partition.inputs.end(); ++at) {
    const std::string target((*at)->target_name());
    const NodePtr read = partition.graph->get_attr(target);
    read->copy_meta_from(**at);
    if (partition.target_of.emplace(target, target).second)
      partition.targets.emplace_back(target, attribute(target));
    partition.received[*at] = read;
  }
  partition.inputs.erase(modules, partition.inputs.end());
}

NodePtr Split::make_input(Partition& partition, NodePtr outside,
                          size_t* counter) {
  const std::string name = options_.keep_original_input_name
                               ? std::string(outside->name())
                               : "arg_" + std::to_string((*counter)++);
  const NodePtr input = partition.graph->placeholder(name);
  input->copy_meta_from(*outside);
  return input;
}

void Split::copy_calls() {
  for (NodePtr node : m_.graph().nodes())
    if (partition_of_[node->id()] != kNone) copy_call(node);
}

// The module's name in the partition: dots become underlines, and one that is
// taken by another module a number.
std::string Split::flat_target(Partition& partition, const std::string& name) {
  std::string flat = name;
  std::replace(flat.begin(), flat.end(), '.', '_');
  for (;; flat += "_1") {
    const auto [entry, added] = partition.target_of.try_emplace(flat, name);
    if (entry->second != name) continue;
    if (!added) return flat;
    partition.targets.emplace_back(flat, attribute(name));
    qualname_map_->emplace_back(partition.submod_name + "." + flat, name);
    return flat;
  }
}

void Split::copy_call(NodePtr node) {
  const size_t index = partition_of_[node->id()];
  Partition& partition = partitions_[index];
  auto inside = [&](NodePtr input) -> Value {
    return partition_of_[input->id()] == index ? copies_[input->id()]
                                               : partition.received.at(input);
  };
  Target target = node->target();
  std::string flat;
  if (node->is(Opcode::call_module)) {
    flat = flat_target(partition, std::string(node->target_name()));
    target = flat;
  }
  auto [args, kwargs] = map_arguments(*node, inside);
  const NodePtr copy = partition.graph->create_node(
      node->op(), target, std::move(args), std::move(kwargs),
      options_.keep_original_node_name ? node->name() : std::string_view());
  copy->copy_meta_from(*node);
  copies_[node->id()] = copy;
}

void Split::finish(Partition& partition) {
  ValueList results;
  for (const Node* node : partition.outputs)
    results.push_back(copies_[node->id()]);
  const bool single = results.size() == 1 && !options_.tuple_return;
  partition.graph->output(single ? results[0]
                                 : Value::tuple(std::move(results)));
  base_members_.emplace_back(
      partition.submod_name,
      nn::ModuleRef(std::make_shared<GraphModule>(
          partition.targets, std::move(partition.graph))));
  call(partition);
}

void Split::call(Partition& partition) {
  ValueList args;
  for (const Node* input : partition.inputs) args.push_back(base_node(*input));
  const NodePtr result =
      base_->call_module(partition.submod_name, std::move(args));
  if (partition.outputs.size() == 1 && !options_.tuple_return) {
    in_base_[partition.outputs[0]->id()] = result;
    return;
  }
  const Target getitem = ops::get_function("operator.getitem");
  for (size_t i = 0; i < partition.outputs.size(); ++i)
    in_base_[partition.outputs[i]->id()] =
        base_->call_function(getitem, {result, static_cast<int64_t>(i)});
}

// Null would be None: with the original order kept, a partition may need
// results of one that is called later.
NodePtr Split::base_node(const Node& node) const {
  if (const NodePtr made = in_base_[node.id()]) return made;
  throw KeyError(std::string(node.name()), node.error_context());
}

// Placeholders and attributes; others are made by their partitions.
void Split::copy_to_base(NodePtr node) {
  if (in_base_[node->id()]) return;
  NodePtr made = nullptr;
  if (node->is(Opcode::placeholder)) {
    made = base_->create_node(Opcode::placeholder,
                              options_.keep_original_node_name
                                  ? Target(node->name())
                                  : node->target(),
                              node->args());
  } else if (node->is(Opcode::get_attr)) {
    made = base_->get_attr(node->target_name());
    base_members_.emplace_back(std::string(node->target_name()),
                               attribute(node->target_name()));
  } else {
    return;
  }
  made->copy_meta_from(*node);
  in_base_[node->id()] = made;
}

nn::Ref<GraphModule> split_module(
    const GraphModule& m,
    const std::function<int64_t(const Node&)>& split_callback,
    const SplitOptions& options, QualnameMap* qualname_map) {
  QualnameMap names;
  auto made = Split(m, options, &names).run(split_callback);
  if (qualname_map)
    qualname_map->insert(qualname_map->end(), names.begin(), names.end());
  return made;
}

}  // namespace fxjit::fx::passes
