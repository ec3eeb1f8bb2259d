// Rewrites of models for inference (torch.fx.experimental.optimization).
#pragma once

#include "fxjit/fx/graph_module.h"

namespace fxjit::fx::passes {

// The model with every batch norm computed by the convolution or linear layer
// in front of it, whose weights are changed for that. The model is traced, and
// is not changed; other modules are shared with it. Left as they are: layers
// whose result is used elsewhere, layers called more than once, and batch norms
// without running statistics. AssertionError "Fusion only for eval!" when a
// layer to fuse is training.
nn::Ref<GraphModule> fuse(nn::Module& model);
template <typename T>
nn::Ref<GraphModule> fuse(const nn::Ref<T>& model) {
  return fuse(static_cast<nn::Module&>(*model));
}

// The model, traced, without its dropout layers.
nn::Ref<GraphModule> remove_dropout(nn::Module& model);
template <typename T>
nn::Ref<GraphModule> remove_dropout(const nn::Ref<T>& model) {
  return remove_dropout(static_cast<nn::Module&>(*model));
}

}  // namespace fxjit::fx::passes
