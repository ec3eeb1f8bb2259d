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
  // Of the submodules named dropout...; the attention itself drops nothing.
  double dropout = 0.1;
  std::string activation = "relu";  // Or "gelu".
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;
  bool bias = true;
};

// What encoder and decoder layers have in common: the feed-forward block, the
// norms and the dropouts. All are submodules under torch's names, and forward
// looks them up by these.
class TransformerLayerBase : public LayerBase {
 public:
  TransformerLayerBase(const LayerClass& layer, LayerArgs given);
  std::string extra_repr() const override { return {}; }

  const int64_t d_model = field("d_model"), nhead = field("nhead");
  const TransformerOptions options = read_options();

 protected:
  Value call(const char* name, const Value& x);
  Value attended(const char* name, const Value& x, const Value& memory,
                 const Value& mask, const Value& padding,
                 const Value& is_causal, const char* dropout);
  Value fed_forward(const Value& x, const char* dropout);

 private:
  TransformerOptions read_options();
};

template <typename T, Text name, Text inputs>
class TransformerLayer
    : public OwnLayer<T, name, inputs, TransformerLayerBase> {
 public:
  using TransformerLayer::TorchLayer::TorchLayer;
  TransformerLayer(int64_t d_model, int64_t nhead,
                   const TransformerOptions& options = {})
      : TransformerLayer::TorchLayer(LayerArgs::of(
            {d_model, nhead, options.dim_feedforward, options.dropout,
             options.activation, options.layer_norm_eps, options.batch_first,
             options.norm_first, options.bias})) {}
};

struct TransformerEncoderLayer
    : TransformerLayer<TransformerEncoderLayer, "TransformerEncoderLayer",
                       "src src_mask=None src_key_padding_mask=None "
                       "is_causal=False"> {
  using TransformerLayer::TransformerLayer;
  Value forward(Value src, Value src_mask, Value src_key_padding_mask,
                Value is_causal);
};

struct TransformerDecoderLayer
    : TransformerLayer<TransformerDecoderLayer, "TransformerDecoderLayer",
                       "tgt memory tgt_mask=None memory_mask=None "
                       "tgt_key_padding_mask=None memory_key_padding_mask=None "
                       "tgt_is_causal=False memory_is_causal=False"> {
  using TransformerLayer::TransformerLayer;
  Value forward(Value tgt, Value memory, Value tgt_mask, Value memory_mask,
                Value tgt_key_padding_mask, Value memory_key_padding_mask,
                Value tgt_is_causal, Value memory_is_causal);
};

// What the stacks of encoder and of decoder layers have in common: the
// submodules "layers.0", "layers.1", ... and, if one was given, "norm".
class TransformerStack : public LayerBase {
 public:
  // Without layers, to be registered as its "layers".
  TransformerStack(const LayerClass& layer, LayerArgs given);
  int64_t num_layers() const;

 protected:
  // `layer` and everything in it is copied for each place, so that all begin
  // with the same numbers. ValueError for less than one layer.
  void fill(const ModuleRef& layer, int64_t num_layers, ModuleRef norm);
  Value run(Value x, const ValueList& memory, const Kwargs& kwargs);
};

// Each layer in turn on the result of the one before it, then `norm` unless
// null. `mask` and `src_key_padding_mask` go to all layers; `is_causal` only
// says that `mask` is causal, none is false.
class TransformerEncoder
    : public OwnLayer<TransformerEncoder, "TransformerEncoder",
                      "src mask=None src_key_padding_mask=None is_causal=None",
                      TransformerStack> {
 public:
  using TorchLayer::TorchLayer;
  TransformerEncoder() = default;
  TransformerEncoder(const ModuleRef& encoder_layer, int64_t num_layers,
                     ModuleRef norm = {}) {
    fill(encoder_layer, num_layers, std::move(norm));
  }
  Value forward(Value src, Value mask, Value src_key_padding_mask,
                Value is_causal);
};

// The same of decoder layers, which all read `memory`.
class TransformerDecoder
    : public OwnLayer<TransformerDecoder, "TransformerDecoder",
                      "tgt memory tgt_mask=None memory_mask=None "
                      "tgt_key_padding_mask=None memory_key_padding_mask=None "
                      "tgt_is_causal=None memory_is_causal=False",
                      TransformerStack> {
 public:
  using TorchLayer::TorchLayer;
  TransformerDecoder() = default;
  TransformerDecoder(const ModuleRef& decoder_layer, int64_t num_layers,
                     ModuleRef norm = {}) {
    fill(decoder_layer, num_layers, std::move(norm));
  }
  Value forward(Value tgt, Value memory, Value tgt_mask, Value memory_mask,
                Value tgt_key_padding_mask, Value memory_key_padding_mask,
                Value tgt_is_causal, Value memory_is_causal);
};

using TransformerLayers =
    LayerList<TransformerEncoderLayer, TransformerDecoderLayer,
              TransformerEncoder, TransformerDecoder>;

}  // namespace fxjit::nn
