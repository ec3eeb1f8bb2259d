// Patterns over normalised graphs, one file each in patterns/ and a row in
// patterns.cpp. The driver runs them once, in order, verifies after each that
// changed something and honours FXJIT_DISABLE.
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

// Calls `rewrite` with each node, which says whether it rewrote something, and
// drops what is dead then. Returns the number of rewrites.
template <typename Fn>
int rewrite_each(ModelGraph& model, Fn&& rewrite) {
  int count = 0;
  for (fx::NodePtr node : model.graph->nodes())
    if (rewrite(node)) ++count;
  if (count > 0) model.graph->eliminate_dead_code();
  return count;
}

}  // namespace fxjit::passes
