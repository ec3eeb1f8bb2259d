// WordPiece tokenizer for BERT's uncased vocabularies: text in, token ids out,
// equal to the Hugging Face tokenizer of all-MiniLM-L6-v2. Called by the
// minilm program before each forward; knows nothing of tensors or the model.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "examples/minilm/unicode.h"
#include "examples/minilm/vocabulary.h"

namespace minilm {

// Immutable once loaded: any number of threads may encode at the same time.
class Tokenizer {
 public:
  // Reads a vocabulary of one token per line, the line number being its id.
  // Throws fxjit::UserError, naming the file, if it cannot be read or lacks
  // one of [PAD], [UNK], [CLS], [SEP], [MASK].
  static Tokenizer load(const std::filesystem::path& vocab_txt);

  // The token ids of one text: [CLS] ... [SEP], at most `max_length` of them.
  // What does not fit is cut off at the end, and `*truncated` (if not null)
  // tells whether that happened. Special tokens spelt in the text, such as
  // "[MASK]", become that token. Malformed UTF-8 counts as U+FFFD, which
  // vanishes. Throws fxjit::UserError if `max_length` is below 2.
  std::vector<std::int64_t> encode(std::string_view utf8,
                                   std::size_t max_length,
                                   bool* truncated = nullptr) const;

  // The id that fills the unused places of a batch.
  std::int64_t pad_id() const { return special(kPad); }
  std::size_t vocabulary_size() const { return vocabulary_.size(); }
  // The text of a token; "" for an id outside the vocabulary.
  std::string_view token(std::int64_t id) const { return vocabulary_.text(id); }

 private:
  friend class Encoder;  // One encode call in progress; in tokenizer.cpp.

  enum Special { kPad, kUnknown, kClassify, kSeparate, kMask, kSpecialCount };
  static constexpr char32_t kAsciiCount = 0x80;

  explicit Tokenizer(Vocabulary vocabulary);
  std::int64_t special(Special which) const { return special_ids_[which]; }

  Vocabulary vocabulary_;
  std::array<std::int64_t, kSpecialCount> special_ids_{};
  std::array<unicode::Folded, kAsciiCount> ascii_{};  // Spares most searches.
};

}  // namespace minilm
