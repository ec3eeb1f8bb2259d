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

}  // namespace fxjit::passes
