// The state of one split_module: which partition has which call, what they hand
// to each other, and the graphs being made.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fxjit/fx/passes/split_module.h"

namespace fxjit::fx::passes {

class Split {
 public:
  Split(const GraphModule& m, const SplitOptions& options,
        QualnameMap* qualname_map);
  nn::Ref<GraphModule> run(
      const std::function<int64_t(const Node&)>& split_callback);

 private:
  // Positions in `partitions_`, each once, in order of insertion.
  struct Links {
    std::vector<size_t> list;
    std::unordered_map<size_t, bool> present;
    void add(size_t index) {
      if (present.emplace(index, true).second) list.push_back(index);
    }
  };
  struct Partition {
    std::string submod_name;
    std::vector<NodePtr> inputs;
    std::vector<NodePtr> outputs;
    Links dependencies;
    Links dependents;
    std::unique_ptr<Graph> graph = std::make_unique<Graph>();
    // What stands for nodes from outside.
    std::unordered_map<const Node*, NodePtr> received;
    nn::AttributeMap targets;
    std::unordered_map<std::string, std::string> target_of;  // By new name.
  };
  static constexpr size_t kNone = SIZE_MAX;

  void assign(const std::function<int64_t(const Node&)>& split_callback);
  void record_uses();
  void record_use(NodePtr made, size_t used_by);
  std::vector<size_t> sorted() const;
  void make_inputs(Partition& partition);
  NodePtr make_input(Partition& partition, NodePtr outside, size_t* counter);
  void copy_calls();
  std::string flat_target(Partition& partition, const std::string& name);
  void copy_call(NodePtr node);
  void finish(Partition& partition);
  void call(Partition& partition);
  NodePtr base_node(const Node& node) const;
  void copy_to_base(NodePtr node);
  nn::Member attribute(std::string_view target) const;

  const GraphModule& m_;
  const SplitOptions& options_;
  QualnameMap* qualname_map_;
  std::deque<Partition> partitions_;
  std::vector<size_t> partition_of_;  // By node id.
  std::vector<NodePtr> copies_;       // By node id: the call, in its partition.
  std::vector<bool> is_output_;

  std::unique_ptr<Graph> base_ = std::make_unique<Graph>();
  std::vector<NodePtr> in_base_;  // By node id.
  nn::AttributeMap base_members_;
};

}  // namespace fxjit::fx::passes
