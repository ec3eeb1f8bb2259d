// Patterns over normalised graphs, one file each in patterns/. A row's order is
// its priority. The driver runs each until it changes nothing, verifies after and
// honours FXJIT_DISABLE.
#pragma once

#include <span>

#include "src/passes/model_graph.h"

namespace fxjit::passes {

struct Pattern {
  const char* name;
  // Rewrites every match; returns their number.
  int (*rewrite)(ModelGraph& model);
};

std::span<const Pattern> patterns();

int fold_batch_norm(ModelGraph& model);
int fuse_attention(ModelGraph& model);
int merge_linears(ModelGraph& model);
int share_heads(ModelGraph& model);

}  // namespace fxjit::passes
