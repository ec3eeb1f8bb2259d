// Rebuilding a ModelGraph call by call through a GraphBuilder: the common frame
// of passes that replace or lower calls.
#pragma once

#include <functional>

#include "src/passes/lowering/graph_builder.h"

namespace fxjit::passes {

// Gives the proxy (or value) that stands for `node`; none means: make the same
// call again with the mapped arguments, which it may have changed. It is also
// called for the output node, whose argument is the model's result.
using RebuildFn =
    std::function<Value(GraphBuilder&, const fx::Node& node, ValueList& args)>;

ModelGraph rebuild(const ModelGraph& model, GraphBuilder::Options options,
                   const RebuildFn& replace = nullptr);

}  // namespace fxjit::passes
