// The parameters of transformer layers and of stacks of them, which name one
// mask and what tells that it is causal differently.
#pragma once

#include <string>
#include <utility>

#include "fxjit/nn/signature.h"

namespace fxjit::nn {

inline Signature encoder_signature(std::string mask, Value is_causal) {
  return Signature({"src",
                    {std::move(mask), None},
                    {"src_key_padding_mask", None},
                    {"is_causal", std::move(is_causal)}});
}

inline Signature decoder_signature(Value tgt_is_causal) {
  return Signature({"tgt",
                    "memory",
                    {"tgt_mask", None},
                    {"memory_mask", None},
                    {"tgt_key_padding_mask", None},
                    {"memory_key_padding_mask", None},
                    {"tgt_is_causal", std::move(tgt_is_causal)},
                    {"memory_is_causal", false}});
}

}  // namespace fxjit::nn
