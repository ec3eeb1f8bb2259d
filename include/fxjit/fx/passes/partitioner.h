// CapabilityBasedPartitioner: finds the largest parts of a graph that a backend
// supports and moves each into a submodule of its own, without cycles
// (torch.fx.passes.infra.partitioner). The rest stays for the interpreter.
//
//   passes::CapabilityBasedPartitioner partitioner(
//       *gm, passes::create_op_support(is_supported));
//   partitioner.partition_and_fuse();
#pragma once

#include <string>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/passes/operator_support.h"

namespace fxjit::fx::passes {

// A set of nodes that become one submodule.
struct Partition {
  int64_t id = 0;
  std::vector<NodePtr> nodes;  // In graph order.
};

// torch's arguments of CapabilityBasedPartitioner.
struct PartitionerOptions {
  // Keep partitions that compute only one thing.
  bool allows_single_node_partition = false;
  // Functions, by qualified name, that do not count as computing; always also
  // "_operator.getitem" and "torch.ops.aten.view".
  std::vector<std::string> non_compute_ops = {};
  // Functions of which one is enough.
  std::vector<std::string> allowed_single_node_partition_ops = {};
  // Join a node with those that use its result only, not with others that are
  // independent of it.
  bool skip_horizontal_fusion = false;
};

// Splits a graph into partitions of supported nodes, as torch's class of this
// name. Two supported nodes are in one partition if no path between them leads
// through an unsupported one. The partition of a node follows from how often a
// path to the graph's end changes from unsupported to supported, which gives
// the partitions of torch's pairwise merging in linear time. Without horizontal
// fusion, nodes with users in several partitions cost a search as well.
class CapabilityBasedPartitioner {
 public:
  // `module` must outlive the partitioner.
  CapabilityBasedPartitioner(GraphModule& module, OperatorSupportRef support,
                             PartitionerOptions options = {});

  // Edits nothing. Reading one of several results ("getitem") belongs to the
  // partition of what made them. Inputs and the output belong to none.
  std::vector<Partition> propose_partitions() const;
  // See fuse_by_partitions.
  void fuse_partitions(const std::vector<Partition>& partitions,
                       const std::string& prefix = "fused_");
  // Takes non-compute ops at the edges out of the partitions.
  void remove_bookend_non_compute_ops(std::vector<Partition>& partitions) const;
  // Proposes partitions and fuses them.
  void partition_and_fuse(const std::string& prefix = "fused_");

 private:
  bool is_non_compute(const Node& node) const;
  bool worth_keeping(const Partition& partition) const;

  GraphModule& module_;
  OperatorSupportRef support_;
  PartitionerOptions options_;
};

}  // namespace fxjit::fx::passes
