// The order in which the nodes of a graph can be read: each behind those whose
// results it uses. Files may list them in any order.
#pragma once

#include <string>
#include <vector>

#include "src/import/onnx/model.h"

namespace fxjit::onnx {

// Places in `nodes`; those of nodes that stand in order already are 0, 1, 2 and
// so on. Names that no node gives are not looked at. UserError where nodes use
// each other's results in a circle, which it names. `place` is where the graph
// stands.
std::vector<size_t> node_order(const std::vector<Bytes>& nodes,
                               const std::string& place);

}  // namespace fxjit::onnx
