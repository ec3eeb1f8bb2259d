// From sentences to embeddings: tokenise, batch, run the traced encoder.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "examples/minilm/bert.h"
#include "examples/minilm/tokenizer.h"

namespace minilm {

enum class Backend { interpreter, jit };

struct EmbedderOptions {
  Backend backend = Backend::jit;
  int threads = 0;          // 0: all CPUs the process may use.
  size_t batch = 32;        // Sentences of one call at most.
  size_t max_length = 256;  // Tokens, [CLS] and [SEP] included.
  bool wait = false;        // Compile a new shape before answering it.
  std::vector<std::string> disabled_passes;
  std::string cache_folder;       // Empty with use_cache_folder: no disk cache.
  bool use_cache_folder = false;  // Otherwise the default folder.
};

struct Embedding {
  std::string text;
  size_t tokens = 0;
  bool truncated = false;
  std::vector<float> values;
};

// A batch of sentences as the encoder takes it.
struct Batch {
  fxjit::Tensor ids;   // [sentences, length] int64, padded.
  fxjit::Tensor mask;  // The same, 1 where there is a token.
};

// Where the model is looked for when no folder is given: $FXJIT_MODEL_DIR, else
// the cache folder that scripts/setup fills.
std::filesystem::path default_model_folder();

class Embedder {
 public:
  // Loads and traces. Throws fxjit::UserError that says how to get the model
  // when the folder lacks it.
  Embedder(const std::filesystem::path& folder,
           const EmbedderOptions& options);

  // In the order of `texts`.
  std::vector<Embedding> embed(std::span<const std::string> texts);
  fxjit::Value run(const Batch& batch);

  fxjit::fx::GraphModule& module() { return *module_; }
  const Tokenizer& tokenizer() const { return tokenizer_; }
  double load_ms() const { return load_ms_; }
  double trace_ms() const { return trace_ms_; }

 private:
  using Tokens = std::vector<std::int64_t>;
  Batch make_batch(const std::vector<Tokens>& tokens,
                   std::span<const size_t> members) const;

  EmbedderOptions options_;
  Tokenizer tokenizer_;
  fxjit::nn::Ref<fxjit::fx::GraphModule> module_;
  double load_ms_ = 0, trace_ms_ = 0;
};

}  // namespace minilm
