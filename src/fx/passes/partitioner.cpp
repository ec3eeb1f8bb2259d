#include "fxjit/fx/passes/partitioner.h"

#include <algorithm>
#include <functional>

#include "fxjit/fx/passes/fuser_utils.h"
#include "src/fx/passes/vertical_groups.h"

namespace fxjit::fx::passes {
namespace {

constexpr int64_t kNoLevel = -1;

bool is_getitem(const Node& node) {
  return node.is(Opcode::call_function) &&
         node.target_name() == "_operator.getitem";
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

using Support = std::function<bool(const Node&)>;

// Which partition each node is in, and the partitions in torch's order: one is
// listed where it got its second node.
struct Assignment {
  struct Level {
    int64_t id = kNoLevel;
    int64_t listed = 0;
    std::vector<NodePtr> nodes;
  };
  std::vector<int64_t> level_of;  // By node id.
  std::vector<Level> levels;

  void add(NodePtr node, int64_t level, int64_t next_id) {
    level_of[node->id()] = level;
    if (static_cast<size_t>(level) >= levels.size()) levels.resize(level + 1);
    Level& at = levels[level];
    at.nodes.push_back(node);
    if (at.nodes.size() <= 2) at.id = at.listed = next_id;
  }
};

Assignment by_level(const Graph& graph, const Support& is_supported) {
  Assignment assigned;
  assigned.level_of.assign(graph.id_bound(), kNoLevel);
  // The lowest level that a supported producer of the node may have.
  std::vector<int64_t> level_before(graph.id_bound());
  int64_t next_id = 0;
  for (NodePtr node : graph.nodes().reversed()) {
    int64_t level = 0;
    for (const Node* user : node->users())
      level = std::max(level, level_before[user->id()]);
    if (is_supported(*node)) {
      assigned.add(node, level, next_id++);
    } else {
      for (const Node* user : node->users())
        if (assigned.level_of[user->id()] != kNoLevel)
          level = std::max(level, assigned.level_of[user->id()] + 1);
    }
    level_before[node->id()] = level;
  }
  for (auto& level : assigned.levels)
    std::reverse(level.nodes.begin(), level.nodes.end());
  return assigned;
}

Assignment by_users(const Graph& graph, const Support& is_supported) {
  Assignment assigned;
  assigned.level_of.assign(graph.id_bound(), kNoLevel);
  for (VerticalGroup& group : vertical_groups(graph, is_supported)) {
    for (const Node* node : group.nodes)
      assigned.level_of[node->id()] =
          static_cast<int64_t>(assigned.levels.size());
    assigned.levels.push_back({group.id, group.id, std::move(group.nodes)});
  }
  return assigned;
}

}  // namespace

CapabilityBasedPartitioner::CapabilityBasedPartitioner(
    GraphModule& module, OperatorSupportRef support, PartitionerOptions options)
    : module_(module),
      support_(std::move(support)),
      options_(std::move(options)) {}

std::vector<Partition> CapabilityBasedPartitioner::propose_partitions() const {
  const Graph& graph = module_.graph();
  // An OperatorSupport says yes to nodes that are no calls.
  auto is_supported = [&](const Node& node) {
    return (is_callable_node(node) || node.is(Opcode::get_attr)) &&
           support_->is_node_supported(module_, node);
  };
  Assignment assigned = options_.skip_horizontal_fusion
                            ? by_users(graph, is_supported)
                            : by_level(graph, is_supported);
  // Producers come first, so one sweep settles chains of getitems too.
  for (const Node* node : graph.nodes()) {
    const auto users = node->users();
    if (!std::all_of(users.begin(), users.end(),
                     [](const Node* user) { return is_getitem(*user); }))
      continue;
    const int64_t level = assigned.level_of[node->id()];
    for (NodePtr user : users) {
      if (assigned.level_of[user->id()] == level) continue;
      assigned.level_of[user->id()] = level;
      if (level != kNoLevel) assigned.levels[level].nodes.push_back(user);
    }
  }
  std::vector<Assignment::Level*> order;
  for (auto& level : assigned.levels) order.push_back(&level);
  std::ranges::sort(order, {}, &Assignment::Level::listed);
  std::vector<Partition> partitions;
  for (const Assignment::Level* level : order) {
    const auto index = static_cast<int64_t>(level - assigned.levels.data());
    Partition partition{level->id, {}};
    for (NodePtr node : level->nodes)
      if (assigned.level_of[node->id()] == index)
        partition.nodes.push_back(node);
    if (partition.nodes.empty()) continue;
    if (options_.allows_single_node_partition || worth_keeping(partition))
      partitions.push_back(std::move(partition));
  }
  return partitions;
}

bool CapabilityBasedPartitioner::is_non_compute(const Node& node) const {
  return node.is(Opcode::call_function) &&
         contains(options_.non_compute_ops, node.target_name());
}

bool CapabilityBasedPartitioner::worth_keeping(
    const Partition& partition) const {
  int count = 0;
  for (const Node* node : partition.nodes) {
    if (!node->is(Opcode::call_function)) continue;
    const std::string_view name = node->target_name();
    if (!is_non_compute(*node) && name != "_operator.getitem" &&
        name != "torch.ops.aten.view")
      ++count;
    if (contains(options_.allowed_single_node_partition_ops, name)) ++count;
  }
  return count > 1;
}

// An op at the edge reads only what comes from outside, or is read only there,
// directly or through others of its kind.
void CapabilityBasedPartitioner::remove_bookend_non_compute_ops(
    std::vector<Partition>& partitions) const {
  enum : uint8_t { outside, inside };
  std::vector<uint8_t> where(module_.graph().id_bound(), outside);
  for (Partition& partition : partitions) {
    for (const Node* node : partition.nodes) where[node->id()] = inside;
    auto leave = [&](NodePtr node, const auto& neighbours) {
      if (where[node->id()] != inside || !is_non_compute(*node)) return;
      for (const Node* other : neighbours)
        if (where[other->id()] == inside) return;
      where[node->id()] = outside;
    };
    for (NodePtr node : partition.nodes) leave(node, node->all_input_nodes());
    for (size_t i = partition.nodes.size(); i-- > 0;)
      leave(partition.nodes[i], partition.nodes[i]->users());
    std::erase_if(partition.nodes, [&](const Node* node) {
      return where[node->id()] == outside;
    });
    for (const Node* node : partition.nodes) where[node->id()] = outside;
  }
}

void CapabilityBasedPartitioner::fuse_partitions(
    const std::vector<Partition>& partitions, const std::string& prefix) {
  std::vector<std::vector<NodePtr>> nodes;
  for (const Partition& partition : partitions)
    nodes.push_back(partition.nodes);
  fuse_by_partitions(module_, nodes, prefix);
}

void CapabilityBasedPartitioner::partition_and_fuse(const std::string& prefix) {
  fuse_partitions(propose_partitions(), prefix);
}

}  // namespace fxjit::fx::passes
