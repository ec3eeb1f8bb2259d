// Compares the arguments of MultiheadAttention with what it expects, so that a
// mask of another layout is an error and never a wrong result.
#pragma once

#include "fxjit/value.h"

namespace fxjit::nn {

// As they come to forward: AssertionError or RuntimeError as torch.nn raises
// them.
struct AttentionInputs {
  const Value &query, &key, &value, &key_padding_mask, &attn_mask;
  int64_t num_heads;
  bool batch_first;
};

void check_attention(const AttentionInputs& inputs);

}  // namespace fxjit::nn
