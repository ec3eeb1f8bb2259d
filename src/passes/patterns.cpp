#include "src/passes/patterns.h"

namespace fxjit::passes {

std::span<const Pattern> patterns() {
  static constexpr Pattern kPatterns[] = {
      {"fold_batch_norm", fold_batch_norm},
      {"share_heads", share_heads},
      {"fuse_attention", fuse_attention},
      {"merge_linears", merge_linears},
  };
  return kPatterns;
}

}  // namespace fxjit::passes
