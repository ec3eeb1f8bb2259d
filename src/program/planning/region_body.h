// The scalar body of a region, composed of the bodies of its nodes, with the
// region's inputs as slots. Private to src/program.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "src/program/planning/builder.h"

namespace fxjit::program {

struct RegionBody : passes::Region::Found {
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

  const fx::Node* sum = nullptr;
  ScalarBody body;  // With one result for each of the region's, in its dtype.
  std::vector<Slot> slots;
};

// The body of the region, which keeps it unless it depends on sizes. If `sum`
// is not null, slot 0 is that node's value, the sum of a contraction.
// `after_reduction` tells of a node whether its inputs are read after the
// reduction; null means never.
std::shared_ptr<const RegionBody> body_of_region(
    const RegionCall& call, const fx::Node* sum = nullptr,
    const std::function<bool(const fx::Node&)>& after_reduction = nullptr);

// What is done to the results of `node`, the one that the region's other nodes
// follow: the loops' inputs and outputs, behind whose operands `refs` end, over
// the dims of its value. Gives the body, slot 0 being the result.
ScalarBody bind_epilogue(const RegionCall& call, const fx::Node& node,
                         std::vector<OperandRef>& refs, Loops& loops);

// Arguments of a node with meta tensors in place of nodes.
ValueList meta_args(const ValueList& node_args);

}  // namespace fxjit::program
