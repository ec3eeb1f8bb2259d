// Sizes of nodes in bytes, calls replaced by target
// (torch.fx.passes.graph_manipulation), and types of items
// (annotate_getitem_nodes).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fxjit/fx/graph_module.h"
#include "fxjit/fx/passes/shape_prop.h"

namespace fxjit::fx::passes {

// Makes every node of this op and target one of the new op and target, with the
// same arguments and name. ValueError, with nothing changed, when the new ones
// do not fit together.
void replace_target_nodes_with(GraphModule& module, Opcode old_op,
                               const Target& old_target, Opcode new_op,
                               const Target& new_target);

// torch's size_bytes.
struct SizeBytes {
  int64_t output_size = 0;
  int64_t total_size = 0;  // With the parameters of a layer.
  friend bool operator==(const SizeBytes&, const SizeBytes&) = default;
};

// What ShapeProp recorded for a node with one tensor as its result;
// RuntimeError with torch's text otherwise.
const TensorMetadata& get_tensor_meta(const Node& node);
// Parameters count in the type of the result, as in torch.
SizeBytes get_size_of_node(const GraphModule& module, const Node& node);
// Those of all nodes before the output, in order. With `args`, runs ShapeProp
// on them first.
std::vector<std::pair<NodePtr, SizeBytes>> get_size_of_all_nodes(
    GraphModule& module, const std::optional<ValueList>& args = std::nullopt);

// Gives each node that reads an item by a number the type that the annotation
// of the whole tells: "int" for the first item of a "Tuple[int, Tensor]".
// AssertionError when there is no such item.
void annotate_getitem_nodes(Graph& graph);

}  // namespace fxjit::fx::passes
