#include "examples/minilm/tokenizer.h"

#include <string>
#include <utility>

#include "fxjit/error.h"

namespace minilm {
namespace {

// In the order of Tokenizer::Special. Each is matched as written, before any
// normalisation, wherever it stands.
constexpr std::array<std::string_view, 5> kSpecialTexts = {
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};

// A longer word becomes a single [UNK].
constexpr std::size_t kMaxWordChars = 100;

}  // namespace

// Collects normalised code points into words and words into ids.
class Encoder {
 public:
  // Stops soon after more than `limit` ids are there; the rest cannot matter.
  Encoder(const Tokenizer& tokenizer, std::size_t limit,
          std::vector<std::int64_t>& ids)
      : tokenizer_(tokenizer), ids_(ids), stop_size_(ids.size() + limit) {}

  void run(std::string_view text) {
    std::size_t pos = 0;
    while (pos < text.size() && ids_.size() <= stop_size_) {
      if (text[pos] == '[' && take_special(text, pos)) continue;
      add(unicode::decode_utf8(text, pos));
    }
    end_word();
  }

 private:
  bool take_special(std::string_view text, std::size_t& pos) {
    for (std::size_t i = 0; i < kSpecialTexts.size(); ++i) {
      if (!text.substr(pos).starts_with(kSpecialTexts[i])) continue;
      end_word();
      ids_.push_back(tokenizer_.special_ids_[i]);
      pos += kSpecialTexts[i].size();
      return true;
    }
    return false;
  }

  void add(char32_t c) {
    const unicode::Folded folded =
        c < Tokenizer::kAsciiCount ? tokenizer_.ascii_[c] : unicode::fold(c);
    switch (folded.char_class) {
      case unicode::CharClass::kLetter:
        append(folded);
        break;
      case unicode::CharClass::kAlone:
        end_word();
        append(folded);
        end_word();
        break;
      case unicode::CharClass::kSpace:
        end_word();
        break;
      case unicode::CharClass::kDrop:
        break;
    }
  }

  void append(const unicode::Folded& folded) {
    word_chars_ += folded.size;
    if (word_chars_ > kMaxWordChars) return;  // Will be [UNK] whatever it is.
    for (std::size_t i = 0; i < folded.size; ++i) {
      unicode::append_utf8(folded.chars[i], word_);
    }
  }

  void end_word() {
    if (word_chars_ == 0) return;
    const std::size_t before = ids_.size();
    if (word_chars_ > kMaxWordChars || !add_pieces()) {
      ids_.resize(before);
      ids_.push_back(tokenizer_.special(Tokenizer::kUnknown));
    }
    word_.clear();
    word_chars_ = 0;
  }

  // Cuts the word greedily into the longest entries; false if some part of it
  // begins with none.
  bool add_pieces() {
    std::string_view rest = word_;
    while (!rest.empty()) {
      const bool inside = rest.size() < word_.size();
      const auto match = tokenizer_.vocabulary_.longest_prefix(rest, inside);
      if (match.id == Vocabulary::kNone) return false;
      ids_.push_back(match.id);
      rest.remove_prefix(match.bytes);
    }
    return true;
  }

  const Tokenizer& tokenizer_;
  std::vector<std::int64_t>& ids_;
  std::size_t stop_size_;
  std::string word_;
  std::size_t word_chars_ = 0;
};

Tokenizer::Tokenizer(Vocabulary vocabulary)
    : vocabulary_(std::move(vocabulary)) {
  static_assert(kSpecialTexts.size() == kSpecialCount);
  for (std::size_t i = 0; i < kSpecialTexts.size(); ++i) {
    special_ids_[i] = vocabulary_.find(kSpecialTexts[i]);
    if (special_ids_[i] == Vocabulary::kNone) {
      throw fxjit::UserError("[tokenizer] the vocabulary has no line " +
                             std::string(kSpecialTexts[i]));
    }
  }
  for (char32_t c = 0; c < kAsciiCount; ++c) ascii_[c] = unicode::fold(c);
}

Tokenizer Tokenizer::load(const std::filesystem::path& vocab_txt) {
  Vocabulary vocabulary = Vocabulary::load(vocab_txt);
  try {
    return Tokenizer(std::move(vocabulary));
  } catch (fxjit::UserError& error) {
    error.extend(
        " in " + vocab_txt.string() +
            ": expected one token a line, as BERT's vocab.txt has them",
        {});
    throw;
  }
}

std::vector<std::int64_t> Tokenizer::encode(std::string_view utf8,
                                            std::size_t max_length,
                                            bool* truncated) const {
  if (max_length < 2) {
    throw fxjit::UserError("[tokenizer] max_length: expected at least 2, got " +
                           std::to_string(max_length));
  }
  std::vector<std::int64_t> ids = {special(kClassify)};
  Encoder(*this, max_length - 2, ids).run(utf8);
  const bool too_long = ids.size() > max_length - 1;
  if (too_long) ids.resize(max_length - 1);
  ids.push_back(special(kSeparate));
  if (truncated) *truncated = too_long;
  return ids;
}

}  // namespace minilm
