#include "fxjit/nn/transformer.h"

#include "fxjit/functions.h"
#include "fxjit/nn/activation.h"
#include "fxjit/nn/normalization.h"
#include "fxjit/nn/shaping.h"
#include "src/nn/transformer_signatures.h"

namespace fxjit::nn {

TransformerLayerBase::TransformerLayerBase(std::string type_name,
                                           Signature signature, int64_t d_model,
                                           int64_t nhead,
                                           TransformerOptions options,
                                           bool decodes)
    : LeafModule(std::move(type_name), std::move(signature)),
      d_model(d_model),
      nhead(nhead),
      options(std::move(options)) {
  const TransformerOptions& o = this->options;
  if (o.activation != "relu" && o.activation != "gelu")
    throw RuntimeError("activation should be relu/gelu, not " + o.activation);
  const auto attention = [&](const char* name) {
    register_module(name, MultiheadAttention::create(
                              d_model, nhead,
                              MultiheadOptions{.dropout = o.dropout,
                                               .bias = o.bias,
                                               .batch_first = o.batch_first}));
  };
  const int blocks = decodes ? 3 : 2;
  attention("self_attn");
  if (decodes) attention("multihead_attn");
  register_module("linear1",
                  Linear::create(d_model, o.dim_feedforward, o.bias));
  register_module("dropout", Dropout::create(o.dropout));
  register_module("linear2",
                  Linear::create(o.dim_feedforward, d_model, o.bias));
  for (int i = 1; i <= blocks; ++i)
    register_module(
        "norm" + std::to_string(i),
        LayerNorm::create(Dims{d_model}, o.layer_norm_eps, true, o.bias));
  for (int i = 1; i <= blocks; ++i)
    register_module("dropout" + std::to_string(i), Dropout::create(o.dropout));
}

Value TransformerLayerBase::call(const char* name, const Value& x) {
  return get_submodule(name).invoke({x}, {});
}

Value TransformerLayerBase::attended(const char* name, const Value& x,
                                     const Value& memory, const Value& mask,
                                     const Value& padding,
                                     const Value& is_causal,
                                     const char* dropout) {
  const Value result = get_submodule(name).invoke(
      {x, memory, memory}, {{"key_padding_mask", padding},
                            {"need_weights", false},
                            {"attn_mask", mask},
                            {"is_causal", is_causal}});
  return call(dropout, getitem(result, 0));
}

Value TransformerLayerBase::fed_forward(const Value& x, const char* dropout) {
  const Value up = call("linear1", x);
  const Value active =
      options.activation == "gelu" ? functional::gelu(up) : relu(up);
  return call(dropout, call("linear2", call("dropout", active)));
}

TransformerEncoderLayer::TransformerEncoderLayer(int64_t d_model, int64_t nhead,
                                                 TransformerOptions options)
    : Custom("TransformerEncoderLayer", encoder_signature("src_mask", false),
             d_model, nhead, std::move(options), false) {}

Value TransformerEncoderLayer::forward(Value src, Value src_mask,
                                       Value src_key_padding_mask,
                                       Value is_causal) {
  const auto attend = [&](const Value& x) {
    return attended("self_attn", x, x, src_mask, src_key_padding_mask,
                    is_causal, "dropout1");
  };
  if (options.norm_first) {
    const Value x = src + attend(call("norm1", src));
    return x + fed_forward(call("norm2", x), "dropout2");
  }
  const Value x = call("norm1", src + attend(src));
  return call("norm2", x + fed_forward(x, "dropout2"));
}

TransformerDecoderLayer::TransformerDecoderLayer(int64_t d_model, int64_t nhead,
                                                 TransformerOptions options)
    : Custom("TransformerDecoderLayer", decoder_signature(false), d_model,
             nhead, std::move(options), true) {}

Value TransformerDecoderLayer::forward(Value tgt, Value memory, Value tgt_mask,
                                       Value memory_mask,
                                       Value tgt_key_padding_mask,
                                       Value memory_key_padding_mask,
                                       Value tgt_is_causal,
                                       Value memory_is_causal) {
  const auto own = [&](const Value& x) {
    return attended("self_attn", x, x, tgt_mask, tgt_key_padding_mask,
                    tgt_is_causal, "dropout1");
  };
  const auto other = [&](const Value& x) {
    return attended("multihead_attn", x, memory, memory_mask,
                    memory_key_padding_mask, memory_is_causal, "dropout2");
  };
  if (options.norm_first) {
    Value x = tgt + own(call("norm1", tgt));
    x = x + other(call("norm2", x));
    return x + fed_forward(call("norm3", x), "dropout3");
  }
  Value x = call("norm1", tgt + own(tgt));
  x = call("norm2", x + other(x));
  return call("norm3", x + fed_forward(x, "dropout3"));
}

}  // namespace fxjit::nn
