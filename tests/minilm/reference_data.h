// The committed results of transformers + PyTorch, and where the model's files
// are. Shared by the tests of this folder; reads files, computes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace minilm::reference {

// A line of examples/minilm/reference/tokens.jsonl.
struct TokenLine {
  std::string text;
  bool truncated;
  std::vector<std::int64_t> ids;  // At most 256.
};

// A line of embeddings.jsonl; the numbers come from a float64 model.
struct EmbeddingLine {
  std::string text;
  std::vector<std::int64_t> ids;
  std::vector<double> embedding;
};

// Both throw std::runtime_error when the file cannot be read or parsed.
std::vector<TokenLine> token_lines();
std::vector<EmbeddingLine> embedding_lines();

// $FXJIT_MODEL_DIR, else the folder that scripts/setup fills.
std::filesystem::path model_dir();

// What to print when a file of the model is missing.
std::string missing_model_message();

}  // namespace minilm::reference
