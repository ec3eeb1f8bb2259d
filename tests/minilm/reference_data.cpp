#include "tests/minilm/reference_data.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace minilm::reference {
namespace {

template <typename Line, typename Parse>
std::vector<Line> read_lines(const char* name, Parse parse) {
  const std::filesystem::path path = std::filesystem::path(FXJIT_SOURCE_DIR) /
                                     "examples/minilm/reference" / name;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    lines.push_back(parse(nlohmann::json::parse(text)));
  }
  return lines;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::vector<TokenLine> token_lines() {
  return read_lines<TokenLine>("tokens.jsonl", [](const auto& line) {
    return TokenLine{line.at("text"), line.at("truncated"), line.at("ids")};
  });
}

std::vector<EmbeddingLine> embedding_lines() {
  return read_lines<EmbeddingLine>("embeddings.jsonl", [](const auto& line) {
    return EmbeddingLine{line.at("text"), line.at("ids"), line.at("embedding")};
  });
}

std::filesystem::path model_dir() {
  const std::string chosen = environment("FXJIT_MODEL_DIR");
  if (!chosen.empty()) return chosen;
  std::filesystem::path cache = environment("XDG_CACHE_HOME");
  if (cache.empty()) {
    cache = std::filesystem::path(environment("HOME")) / ".cache";
  }
  return cache / "fxjit/models/all-minilm-l6-v2";
}

std::string missing_model_message() {
  return "The model is not in " + model_dir().string() +
         ": run scripts/setup, or set FXJIT_MODEL_DIR.";
}

}  // namespace minilm::reference
