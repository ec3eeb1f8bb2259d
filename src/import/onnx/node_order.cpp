#include "src/import/onnx/node_order.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "fxjit/error.h"
#include "src/import/onnx/graph_reader.h"

namespace fxjit::onnx {
namespace {

using Names = std::unordered_set<std::string_view>;

void add_used_names(const NodeInfo& node, int depth, Names& used);

// What a sub-graph reads from outside of it.
void add_names_from_outside(const GraphInfo& graph, int depth, Names& used) {
  if (depth > kMaxDepth)
    throw UserError("[onnx] graphs of more than " + std::to_string(kMaxDepth) +
                    " levels");
  Names inside, own;
  for (const Bytes& bytes : graph.inputs)
    own.insert(read_value_info(bytes).name);
  for (const Bytes& bytes : graph.initializers)
    own.insert(read_tensor_info(bytes).name);
  for (const Bytes& bytes : graph.nodes) {
    const NodeInfo node = read_node_info(bytes);
    own.insert(node.outputs.begin(), node.outputs.end());
    add_used_names(node, depth + 1, inside);
  }
  for (const Bytes& bytes : graph.outputs)
    inside.insert(read_value_info(bytes).name);
  for (const std::string_view name : inside)
    if (!own.contains(name)) used.insert(name);
}

void add_used_names(const NodeInfo& node, int depth, Names& used) {
  used.insert(node.inputs.begin(), node.inputs.end());
  for (const AttributeInfo& attribute : node.attributes)
    if (attribute.graph)
      add_names_from_outside(read_graph(*attribute.graph), depth, used);
}

class NodeSorter {
 public:
  NodeSorter(const std::vector<Bytes>& nodes, const std::string& place)
      : nodes_(nodes), place_(place), uses_(nodes.size()) {
    std::unordered_map<std::string_view, size_t> givers;
    std::vector<Names> names(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const NodeInfo node = read_node_info(nodes[i]);
      add_used_names(node, 0, names[i]);
      for (const std::string_view output : node.outputs)
        if (!output.empty()) givers.emplace(output, i);
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const std::string_view name : names[i])
        if (const auto giver = givers.find(name); giver != givers.end())
          uses_[i].push_back(giver->second);
      std::sort(uses_[i].begin(), uses_[i].end());
    }
  }

  std::vector<size_t> run() {
    state_.resize(nodes_.size(), State::unseen);
    for (size_t i = 0; i < nodes_.size(); ++i) add(i);
    return std::move(order_);
  }

 private:
  enum class State : uint8_t { unseen, waiting, done };

  struct Visit {
    size_t node, next = 0;  // The use to look at.
  };

  // The node behind all that it uses; a stack, as chains may be long.
  void add(size_t first) {
    if (state_[first] != State::unseen) return;
    path_ = {{first}};
    state_[first] = State::waiting;
    while (!path_.empty()) {
      Visit& top = path_.back();
      if (top.next == uses_[top.node].size()) {
        state_[top.node] = State::done;
        order_.push_back(top.node);
        path_.pop_back();
        continue;
      }
      const size_t used = uses_[top.node][top.next++];
      if (state_[used] == State::waiting) fail_at(used);
      if (state_[used] == State::done) continue;
      state_[used] = State::waiting;
      path_.push_back({used});
    }
  }

  // Each node of the path uses the next one, and the last one `node`.
  [[noreturn]] void fail_at(size_t node) const {
    constexpr size_t kShown = 8;
    auto at = std::find_if(path_.begin(), path_.end(),
                           [&](const Visit& one) { return one.node == node; });
    std::string text;
    for (size_t shown = 0; at != path_.end() && shown < kShown; ++at, ++shown)
      text += (shown > 0 ? ", which uses " : "") + name_of(at->node);
    if (at != path_.end()) text += ", and so on";
    throw UserError("[onnx] " + place_ + ": its nodes form a cycle: " + text +
                    ", which uses the first one");
  }

  std::string name_of(size_t node) const {
    return node_place(read_node_info(nodes_[node]), place_, node);
  }

  const std::vector<Bytes>& nodes_;
  const std::string& place_;
  std::vector<std::vector<size_t>> uses_;  // Nodes by places.
  std::vector<State> state_;
  std::vector<Visit> path_;
  std::vector<size_t> order_;
};

}  // namespace

std::vector<size_t> node_order(const std::vector<Bytes>& nodes,
                               const std::string& place) {
  return NodeSorter(nodes, place).run();
}

}  // namespace fxjit::onnx
