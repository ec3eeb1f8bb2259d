#include "src/passes/patterns.h"

namespace fxjit::passes {

// A row for each function in patterns/, in order of priority.
#define FXJIT_PATTERNS(row)                                                \
  row(drop_unread_results) row(fold_batch_norm) row(dequantised_constants) \
      row(quantised_pools) row(quantised_views) row(integer_products)      \
          row(pick_quantised) row(byte_tables) row(fuse_padding)           \
              row(share_heads) row(fuse_attention) row(merge_linears)      \
                  row(quantised_uses)

#define FXJIT_DECLARE(name) int name(ModelGraph& model);
FXJIT_PATTERNS(FXJIT_DECLARE)

std::span<const Pattern> patterns() {
#define FXJIT_ROW(name) {#name, name},
  static constexpr Pattern kPatterns[] = {FXJIT_PATTERNS(FXJIT_ROW)};
  return kPatterns;
}

}  // namespace fxjit::passes
