#include "fxjit/nn/transformer.h"

#include "fxjit/functions.h"
#include "fxjit/nn/activation.h"
#include "fxjit/nn/containers.h"
#include "fxjit/nn/normalization.h"
#include "fxjit/nn/shaping.h"

namespace fxjit::nn {
namespace {

// None asks torch to look whether the mask is causal, which changes its speed
// only.
Value given_causal(const Value& is_causal) {
  return is_causal.is_none() ? Value(false) : is_causal;
}

}  // namespace

TransformerOptions TransformerLayerBase::read_options() {
  return {.dim_feedforward = field("dim_feedforward"),
          .dropout = field("dropout"),
          .activation = field("activation"),
          .layer_norm_eps = field("layer_norm_eps"),
          .batch_first = field("batch_first"),
          .norm_first = field("norm_first"),
          .bias = field("bias")};
}

TransformerLayerBase::TransformerLayerBase(const LayerClass& layer,
                                           LayerArgs given)
    : LayerBase(layer, std::move(given)) {
  const bool decodes = layer.name == TransformerDecoderLayer::kClass.name;
  const TransformerOptions& o = options;
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

TransformerStack::TransformerStack(const LayerClass& layer, LayerArgs given)
    : LayerBase(layer, std::move(given)) {
  register_module("layers", ModuleList::create());
}

void TransformerStack::fill(const ModuleRef& layer, int64_t num_layers,
                            ModuleRef norm) {
  if (num_layers < 1)
    throw ValueError(type_name() + ": expected num_layers > 0, got " +
                     std::to_string(num_layers));
  if (!layer) throw ValueError(type_name() + ": expected a layer, got none");
  Module& layers = get_submodule("layers");
  for (int64_t i = 0; i < num_layers; ++i)
    layers.register_module(std::to_string(i), deep_copy(*layer));
  if (norm) register_module("norm", std::move(norm));
}

int64_t TransformerStack::num_layers() const {
  return static_cast<int64_t>(get_submodule("layers").children().size());
}

Value TransformerStack::run(Value x, const ValueList& memory,
                            const Kwargs& kwargs) {
  for (const auto& [name, layer] : get_submodule("layers").children()) {
    ValueList args = {std::move(x)};
    args.insert(args.end(), memory.begin(), memory.end());
    x = layer->call(args, kwargs);
  }
  const ModuleRef* const norm = children().find("norm");
  return norm && *norm ? (*norm)->call({std::move(x)}) : x;
}

Value TransformerEncoder::forward(Value src, Value mask,
                                  Value src_key_padding_mask, Value is_causal) {
  return run(std::move(src), {},
             {{"src_mask", std::move(mask)},
              {"is_causal", given_causal(is_causal)},
              {"src_key_padding_mask", std::move(src_key_padding_mask)}});
}

Value TransformerDecoder::forward(Value tgt, Value memory, Value tgt_mask,
                                  Value memory_mask, Value tgt_key_padding_mask,
                                  Value memory_key_padding_mask,
                                  Value tgt_is_causal, Value memory_is_causal) {
  return run(std::move(tgt), {std::move(memory)},
             {{"tgt_mask", std::move(tgt_mask)},
              {"memory_mask", std::move(memory_mask)},
              {"tgt_key_padding_mask", std::move(tgt_key_padding_mask)},
              {"memory_key_padding_mask", std::move(memory_key_padding_mask)},
              {"tgt_is_causal", given_causal(tgt_is_causal)},
              {"memory_is_causal", std::move(memory_is_causal)}});
}

}  // namespace fxjit::nn
