#include "fxjit/nn/containers.h"
#include "fxjit/nn/transformer.h"
#include "src/nn/transformer_signatures.h"

namespace fxjit::nn {
namespace {

// None asks torch to look whether the mask is causal, which changes its speed
// only.
Value given_causal(const Value& is_causal) {
  return is_causal.is_none() ? Value(false) : is_causal;
}

}  // namespace

TransformerStack::TransformerStack(std::string type_name, Signature signature)
    : LeafModule(std::move(type_name), std::move(signature)) {
  register_module("layers", ModuleList::create());
}

TransformerStack::TransformerStack(std::string type_name, Signature signature,
                                   const ModuleRef& layer, int64_t num_layers,
                                   ModuleRef norm)
    : TransformerStack(std::move(type_name), std::move(signature)) {
  if (num_layers < 1)
    throw ValueError(this->type_name() + ": expected num_layers > 0, got " +
                     std::to_string(num_layers));
  if (!layer)
    throw ValueError(this->type_name() + ": expected a layer, got none");
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

TransformerEncoder::TransformerEncoder(const ModuleRef& encoder_layer,
                                       int64_t num_layers, ModuleRef norm)
    : Custom("TransformerEncoder", encoder_signature("mask", None),
             encoder_layer, num_layers, std::move(norm)) {}
TransformerEncoder::TransformerEncoder()
    : Custom("TransformerEncoder", encoder_signature("mask", None)) {}

Value TransformerEncoder::forward(Value src, Value mask,
                                  Value src_key_padding_mask, Value is_causal) {
  return run(std::move(src), {},
             {{"src_mask", std::move(mask)},
              {"is_causal", given_causal(is_causal)},
              {"src_key_padding_mask", std::move(src_key_padding_mask)}});
}

TransformerDecoder::TransformerDecoder(const ModuleRef& decoder_layer,
                                       int64_t num_layers, ModuleRef norm)
    : Custom("TransformerDecoder", decoder_signature(None), decoder_layer,
             num_layers, std::move(norm)) {}
TransformerDecoder::TransformerDecoder()
    : Custom("TransformerDecoder", decoder_signature(None)) {}

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
