// The transformer: TransformerEncoderLayer and TransformerDecoderLayer, of
// [L, N, E], or [N, L, E] if batch_first, and stacks of them. Masks are those
// of nn::MultiheadAttention.
#pragma once

#include <cstdint>
#include <string>

#include "fxjit/nn/attention.h"

namespace fxjit::nn {

struct TransformerOptions {
  int64_t dim_feedforward = 2048;
  double dropout = 0.1;             // In training only, which is not supported.
  std::string activation = "relu";  // Or "gelu".
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;
};

// What both have: feed-forward block, norms, dropouts; submodules by torch's
// names, which forward looks up.
class TransformerLayerBase : public LeafModule {
 public:
  TransformerLayerBase(std::string type_name, Signature signature,
                       int64_t d_model, int64_t nhead,
                       TransformerOptions options, bool decodes);

  const int64_t d_model, nhead;
  const TransformerOptions options;

 protected:
  Value call(const char* name, const Value& x);
  Value attended(const char* name, const Value& x, const Value& memory,
                 const Value& mask, const Value& padding,
                 const Value& is_causal, const char* dropout);
  Value fed_forward(const Value& x, const char* dropout);
};

class TransformerEncoderLayer
    : public Custom<TransformerEncoderLayer, TransformerLayerBase> {
 public:
  TransformerEncoderLayer(int64_t d_model, int64_t nhead,
                          TransformerOptions options = {});
  Value forward(Value src, Value src_mask, Value src_key_padding_mask,
                Value is_causal);
};

class TransformerDecoderLayer
    : public Custom<TransformerDecoderLayer, TransformerLayerBase> {
 public:
  TransformerDecoderLayer(int64_t d_model, int64_t nhead,
                          TransformerOptions options = {});
  Value forward(Value tgt, Value memory, Value tgt_mask, Value memory_mask,
                Value tgt_key_padding_mask, Value memory_key_padding_mask,
                Value tgt_is_causal, Value memory_is_causal);
};

// What both stacks have: the submodules "layers.0", "layers.1", ... and "norm"
// where there is one.
class TransformerStack : public LeafModule {
 public:
  int64_t num_layers() const;

 protected:
  // `layer` and everything in it is copied for each place, so that all begin
  // with the same numbers. ValueError for less than one layer.
  TransformerStack(std::string type_name, Signature signature,
                   const ModuleRef& layer, int64_t num_layers, ModuleRef norm);
  // Without layers, to be registered as its "layers".
  TransformerStack(std::string type_name, Signature signature);
  Value run(Value x, const ValueList& memory, const Kwargs& kwargs);
};

// Each layer in turn on the result of the one before it, then `norm` unless
// null. `mask` and `src_key_padding_mask` go to all layers; `is_causal` only
// says that `mask` is causal, none is false.
class TransformerEncoder : public Custom<TransformerEncoder, TransformerStack> {
 public:
  TransformerEncoder(const ModuleRef& encoder_layer, int64_t num_layers,
                     ModuleRef norm = {});
  TransformerEncoder();
  Value forward(Value src, Value mask, Value src_key_padding_mask,
                Value is_causal);
};

// The same of decoder layers, which all read `memory`.
class TransformerDecoder : public Custom<TransformerDecoder, TransformerStack> {
 public:
  TransformerDecoder(const ModuleRef& decoder_layer, int64_t num_layers,
                     ModuleRef norm = {});
  TransformerDecoder();
  Value forward(Value tgt, Value memory, Value tgt_mask, Value memory_mask,
                Value tgt_key_padding_mask, Value memory_key_padding_mask,
                Value tgt_is_causal, Value memory_is_causal);
};

}  // namespace fxjit::nn
