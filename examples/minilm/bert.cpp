#include "examples/minilm/bert.h"

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

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

// Reads config.json; errors name the file and the field.
class ConfigReader {
 public:
  ConfigReader(const nlohmann::json& config, std::string path)
      : config_(config), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw fxjit::UserError(path_ + ": " + what);
  }

  // Far beyond `most` no such model exists: the file is damaged.
  void size(const char* key, int64_t most, int64_t* out) const {
    const auto found = config_.find(key);
    if (found == config_.end() || !found->is_number_integer() ||
        found->get<int64_t>() <= 0 || found->get<int64_t>() > most)
      fail(std::string(key) + ": expected a whole number from 1 to " +
           std::to_string(most) + got(found));
    *out = found->get<int64_t>();
  }

  void positive(const char* key, double* out) const {
    const auto found = config_.find(key);
    if (found == config_.end()) return;
    if (!found->is_number() || !(found->get<double>() > 0))
      fail(std::string(key) + ": expected a number above 0" + got(found));
    *out = found->get<double>();
  }

  // What this program computes; another value would give wrong numbers.
  void only(const char* key, const char* value) const {
    const auto found = config_.find(key);
    if (found != config_.end() && *found != value)
      fail(std::string(key) + ": expected \"" + value + "\"" + got(found));
  }

 private:
  std::string got(nlohmann::json::const_iterator found) const {
    return found == config_.end() ? ", got nothing" : ", got " + found->dump();
  }

  const nlohmann::json& config_;
  const std::string path_;
};

}  // namespace

BertConfig load_config(const std::filesystem::path& config_json) {
  std::ifstream file(config_json);
  if (!file)
    throw fxjit::UserError("cannot read " + config_json.string());
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object())
    throw fxjit::UserError(config_json.string() + ": expected a JSON object");
  BertConfig config;
  const ConfigReader read(json, config_json.string());
  read.size("vocab_size", 10'000'000, &config.vocabulary);
  read.size("hidden_size", 1 << 16, &config.hidden);
  read.size("intermediate_size", 1 << 20, &config.intermediate);
  read.size("num_hidden_layers", 1000, &config.layers);
  read.size("num_attention_heads", 1 << 16, &config.heads);
  read.size("max_position_embeddings", 1 << 20, &config.positions);
  read.size("type_vocab_size", 1000, &config.token_types);
  if (config.hidden % config.heads != 0)
    read.fail("hidden_size: expected a multiple of num_attention_heads, " +
              std::to_string(config.heads) + ", got " +
              std::to_string(config.hidden));
  read.positive("layer_norm_eps", &config.layer_norm_eps);
  read.only("hidden_act", "gelu");
  read.only("position_embedding_type", "absolute");
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

nn::Ref<SentenceEncoder> load_encoder(const std::filesystem::path& folder,
                                      const BertConfig& config) {
  const nn::SkipInit every_weight_is_loaded;
  auto encoder = SentenceEncoder::create(config);
  auto tensors = fxjit::load_safetensors((folder / "model.safetensors").string());
  // The file also holds a pooler, which sentence embeddings do not use.
  std::erase_if(tensors, [](const auto& entry) {
    return entry.first.starts_with("pooler.");
  });
  try {
    encoder->load_state_dict(tensors);
  } catch (fxjit::Error& error) {
    error.extend(
        "\n  " + (folder / "model.safetensors").string() +
            " is not of the model that config.json beside it describes",
        {});
    throw;
  }
  encoder->eval();
  return encoder;
}

nn::Ref<SentenceEncoder> load_encoder(const std::filesystem::path& folder) {
  return load_encoder(folder, load_config(folder / "config.json"));
}

}  // namespace minilm
