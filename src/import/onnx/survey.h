// What of a model is not supported, all of it at once.
#pragma once

#include <string>

#include "src/import/onnx/graph_reader.h"

namespace fxjit::onnx {

// Looks at all nodes, those of sub-graphs and functions as well, and at the
// types of all tensors. UserError listing every op, opset, domain and type that
// is not supported, with the nodes and tensors where it stands.
void check_support(const std::string& path, const ModelInfo& model,
                   const GraphInfo& graph, const Functions& functions);

}  // namespace fxjit::onnx
