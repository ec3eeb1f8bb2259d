// Composes the scalar body of a region from the bodies of its nodes, with the
// region's inputs as slots. Private to src/program.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "src/program/planning/builder.h"

namespace fxjit::program {

class RegionBody {
 public:
  // An input slot of the body: which placeholder is read, and how. A gathered
  // input names the slot of its index. `after_reduction` is set for reads of a
  // column region after its reduction.
  struct Slot {
    const fx::Node* source = nullptr;
    bool after_reduction = false;
    int32_t index_slot = -1;
    bool is_index = false;
    int axis = -1;  // The dim, where a gather has an index for each element.

    friend bool operator==(const Slot&, const Slot&) = default;
  };

  explicit RegionBody(const RegionCall& call) : call_(call) {}

  // Makes slot 0 the value of `node`, the sum of a contraction.
  void bind_sum(const fx::Node& node);
  // Adds all nodes of the region, in order. `after_reduction` tells of a node
  // whether its inputs are read after the reduction; null means never.
  void build(
      const std::function<bool(const fx::Node&)>& after_reduction = nullptr);

  const std::vector<Slot>& slots() const { return slots_; }
  // The finished body, with one result for each result of the region, in its
  // dtype.
  ScalarBody finish();

 private:
  Scalar input(const fx::Node& placeholder, bool after_reduction);
  Scalar value_of(const fx::Node& node, bool after_reduction);
  Scalar scalar_call(const fx::Node& node, bool after_reduction);
  Scalar reduction(const fx::Node& node);
  Scalar gather(const fx::Node& node);

  const RegionCall& call_;
  ScalarBuilder builder_;
  std::vector<Slot> slots_;
  std::unordered_map<const fx::Node*, Scalar> values_;
};

// What is done to the results of `node`, the one that the region's other nodes
// follow: the loops' inputs and outputs, behind whose operands `refs` end, over
// the dims of its value. Gives the body, slot 0 being the result.
ScalarBody bind_epilogue(const RegionCall& call, const fx::Node& node,
                         std::vector<OperandRef>& refs, Loops& loops);

// Arguments of a node with meta tensors in place of nodes.
ValueList meta_args(const ValueList& node_args);

}  // namespace fxjit::program
