// The BERT encoder of all-MiniLM-L6-v2 in fxjit modules, with mean pooling and
// L2 normalisation: from token ids to sentence embeddings. Names of parameters
// are those of the published weights.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "fxjit/functions.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"

namespace minilm {

// Sizes from config.json.
struct BertConfig {
  int64_t vocabulary = 30522;
  int64_t hidden = 384;
  int64_t intermediate = 1536;
  int64_t layers = 6;
  int64_t heads = 12;
  int64_t positions = 512;
  int64_t token_types = 2;
  double layer_norm_eps = 1e-12;
};

// Throws fxjit::UserError naming the file and the field, also for a model that
// these modules would not compute as it was trained.
BertConfig load_config(const std::filesystem::path& config_json);

class Embeddings : public fxjit::nn::Custom<Embeddings> {
 public:
  explicit Embeddings(const BertConfig& config);
  // ids: [batch, tokens] int64 -> [batch, tokens, hidden]
  fxjit::Value forward(fxjit::Value ids);

 private:
  fxjit::nn::Ref<fxjit::nn::Embedding> words_, positions_, types_;
  fxjit::nn::Ref<fxjit::nn::LayerNorm> norm_;
  fxjit::nn::Buffer position_ids_;
};

class SelfAttention : public fxjit::nn::Custom<SelfAttention> {
 public:
  explicit SelfAttention(const BertConfig& config);
  // x: [batch, tokens, hidden]; mask: [batch, 1, 1, tokens], added to scores.
  fxjit::Value forward(fxjit::Value x, fxjit::Value mask);

 private:
  fxjit::Value split_heads(const fxjit::Value& x);

  int64_t heads_, depth_;
  fxjit::nn::Ref<fxjit::nn::Linear> query_, key_, value_;
};

// dense -> + residual -> layer norm
class Output : public fxjit::nn::Custom<Output> {
 public:
  Output(int64_t in, const BertConfig& config);
  fxjit::Value forward(fxjit::Value x, fxjit::Value residual);

 private:
  fxjit::nn::Ref<fxjit::nn::Linear> dense_;
  fxjit::nn::Ref<fxjit::nn::LayerNorm> norm_;
};

class Layer : public fxjit::nn::Custom<Layer> {
 public:
  explicit Layer(const BertConfig& config);
  fxjit::Value forward(fxjit::Value x, fxjit::Value mask);

 private:
  fxjit::nn::Ref<SelfAttention> attention_;
  fxjit::nn::Ref<Output> attention_output_, output_;
  fxjit::nn::Ref<fxjit::nn::Linear> intermediate_;
};

// ids, mask: [batch, tokens] int64 -> [batch, hidden], rows of length one.
class SentenceEncoder : public fxjit::nn::Custom<SentenceEncoder> {
 public:
  explicit SentenceEncoder(const BertConfig& config);
  fxjit::Value forward(fxjit::Value ids, fxjit::Value mask);

 private:
  fxjit::nn::Ref<Embeddings> embeddings_;
  std::vector<fxjit::nn::Ref<Layer>> layers_;
};

// The encoder with the weights of `folder`/model.safetensors, mapped, not
// copied. Throws fxjit::UserError naming file, tensor, expected and got.
fxjit::nn::Ref<SentenceEncoder> load_encoder(
    const std::filesystem::path& folder, const BertConfig& config);
// With the sizes of `folder`/config.json.
fxjit::nn::Ref<SentenceEncoder> load_encoder(
    const std::filesystem::path& folder);

}  // namespace minilm
