#include "examples/minilm/bert.h"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "fxjit/safetensors.h"

namespace minilm {

using fxjit::DType;
using fxjit::method;
using fxjit::Value;
namespace nn = fxjit::nn;
namespace F = fxjit::nn::functional;

namespace {

// Groups modules under a name that holds nothing else: "attention.self".
nn::Ref<nn::Module> group() {
  return nn::ModuleRef(std::make_shared<nn::Module>());
}

void read_size(const nlohmann::json& config, const char* key, int64_t* out,
               const std::string& path) {
  const auto found = config.find(key);
  if (found == config.end() || !found->is_number_integer() ||
      found->get<int64_t>() <= 0)
    throw fxjit::UserError("" + path + ": " + key +
                           ": expected a positive whole number");
  *out = found->get<int64_t>();
}

}  // namespace

BertConfig load_config(const std::filesystem::path& config_json) {
  std::ifstream file(config_json);
  if (!file)
    throw fxjit::UserError("cannot read " + config_json.string());
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object())
    throw fxjit::UserError("" + config_json.string() +
                           ": expected a JSON object");
  BertConfig config;
  const std::string path = config_json.string();
  read_size(json, "vocab_size", &config.vocabulary, path);
  read_size(json, "hidden_size", &config.hidden, path);
  read_size(json, "intermediate_size", &config.intermediate, path);
  read_size(json, "num_hidden_layers", &config.layers, path);
  read_size(json, "num_attention_heads", &config.heads, path);
  read_size(json, "max_position_embeddings", &config.positions, path);
  read_size(json, "type_vocab_size", &config.token_types, path);
  if (config.hidden % config.heads != 0)
    throw fxjit::UserError("" + path +
                           ": hidden_size is not a multiple of "
                           "num_attention_heads");
  if (const auto eps = json.find("layer_norm_eps");
      eps != json.end() && eps->is_number())
    config.layer_norm_eps = eps->get<double>();
  return config;
}

Embeddings::Embeddings(const BertConfig& c) : Custom("Embeddings", {"ids"}) {
  words_ = register_module("word_embeddings",
                           nn::Embedding::create(c.vocabulary, c.hidden));
  positions_ = register_module("position_embeddings",
                               nn::Embedding::create(c.positions, c.hidden));
  types_ = register_module("token_type_embeddings",
                           nn::Embedding::create(c.token_types, c.hidden));
  norm_ = register_module(
      "LayerNorm", nn::LayerNorm::create(fxjit::Dims{c.hidden},
                                         c.layer_norm_eps));
  position_ids_ = register_buffer(
      "position_ids", fxjit::Tensor::empty({1, c.positions}, DType::i64));
}

Value Embeddings::forward(Value ids) {
  const Value tokens = method(ids, "size", {1});
  const Value positions = fxjit::getitem(
      position_ids_, Value::tuple({Value::slice({}, {}), Value::slice({}, tokens)}));
  // Every token of a sentence has type 0.
  const Value type = fxjit::getitem(types_->param("weight"), 0);
  return norm_(words_(ids) + type + positions_(positions));
}

SelfAttention::SelfAttention(const BertConfig& c)
    : Custom("SelfAttention", {"x", "mask"}),
      heads_(c.heads),
      depth_(c.hidden / c.heads) {
  query_ = register_module("query", nn::Linear::create(c.hidden, c.hidden));
  key_ = register_module("key", nn::Linear::create(c.hidden, c.hidden));
  value_ = register_module("value", nn::Linear::create(c.hidden, c.hidden));
}

Value SelfAttention::split_heads(const Value& x) {
  const Value parts = method(
      x, "view",
      {method(x, "size", {0}), method(x, "size", {1}), heads_, depth_});
  return method(parts, "transpose", {1, 2});
}

Value SelfAttention::forward(Value x, Value mask) {
  const Value joined = F::scaled_dot_product_attention(
      split_heads(query_(x)), split_heads(key_(x)), split_heads(value_(x)),
      mask);
  return method(method(joined, "transpose", {1, 2}), "reshape",
                {method(x, "size", {0}), method(x, "size", {1}),
                 heads_ * depth_});
}

Output::Output(int64_t in, const BertConfig& c)
    : Custom("Output", {"x", "residual"}) {
  dense_ = register_module("dense", nn::Linear::create(in, c.hidden));
  norm_ = register_module(
      "LayerNorm", nn::LayerNorm::create(fxjit::Dims{c.hidden},
                                         c.layer_norm_eps));
}

Value Output::forward(Value x, Value residual) {
  return norm_(dense_(x) + residual);
}

Layer::Layer(const BertConfig& c) : Custom("Layer", {"x", "mask"}) {
  auto attention = register_module("attention", group());
  attention_ =
      attention->register_module("self", SelfAttention::create(c));
  attention_output_ =
      attention->register_module("output", Output::create(c.hidden, c));
  auto intermediate = register_module("intermediate", group());
  intermediate_ = intermediate->register_module(
      "dense", nn::Linear::create(c.hidden, c.intermediate));
  output_ = register_module("output", Output::create(c.intermediate, c));
}

Value Layer::forward(Value x, Value mask) {
  const Value attended = attention_output_(attention_(x, mask), x);
  return output_(F::gelu(intermediate_(attended)), attended);
}

SentenceEncoder::SentenceEncoder(const BertConfig& c)
    : Custom("SentenceEncoder", {"ids", "mask"}) {
  embeddings_ = register_module("embeddings", Embeddings::create(c));
  auto encoder = register_module("encoder", group());
  auto list = encoder->register_module("layer", group());
  for (int64_t i = 0; i < c.layers; ++i)
    layers_.push_back(
        list->register_module(std::to_string(i), Layer::create(c)));
}

Value SentenceEncoder::forward(Value ids, Value mask) {
  const Value kept = method(mask, "to", {DType::f32});
  const Value padding = (1.0 - method(method(kept, "unsqueeze", {1}),
                                      "unsqueeze", {2})) *
                        std::numeric_limits<float>::lowest();
  Value x = embeddings_(ids);
  for (auto& layer : layers_) x = layer(x, padding);
  const Value weights = method(kept, "unsqueeze", {-1});
  const Value sum = method(x * weights, "sum", {1});
  const Value count = method(method(weights, "sum", {1}), "clamp", {},
                             {{"min", 1e-9}});
  return F::normalize(sum / count, 2.0, 1);
}

nn::Ref<SentenceEncoder> load_encoder(const std::filesystem::path& folder) {
  const BertConfig config = load_config(folder / "config.json");
  const nn::SkipInit every_weight_is_loaded;
  auto encoder = SentenceEncoder::create(config);
  auto tensors = fxjit::load_safetensors((folder / "model.safetensors").string());
  // The file also holds a pooler, which sentence embeddings do not use.
  std::erase_if(tensors, [](const auto& entry) {
    return entry.first.starts_with("pooler.");
  });
  encoder->load_state_dict(tensors);
  encoder->eval();
  return encoder;
}

}  // namespace minilm
