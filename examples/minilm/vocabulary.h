// The entries of a vocab.txt and the one question WordPiece asks of them: the
// longest entry that a text begins with. Used by Tokenizer only; it does not
// know special tokens or normalisation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace minilm {

// Immutable once built; const members may be called from any thread.
class Vocabulary {
 public:
  static constexpr std::int32_t kNone = -1;

  struct Match {
    std::int32_t id = kNone;
    std::size_t bytes = 0;  // Of the text, so without the "##".
  };

  // Throws fxjit::UserError, naming the file, if it cannot be read whole or is
  // too large to be a vocabulary.
  static Vocabulary load(const std::filesystem::path& path);

  // One entry per line, its number from 0 being its id; LF or CRLF. Of equal
  // lines the last one counts.
  explicit Vocabulary(std::string lines);
  Vocabulary() = default;

  std::size_t size() const { return entries_.size(); }
  // The entry `id`, "" if there is none. Valid as long as the vocabulary.
  std::string_view text(std::int64_t id) const;
  // The id of exactly this entry, or kNone.
  std::int32_t find(std::string_view entry) const;
  // The longest entry that `text` begins with. Inside a word only the entries
  // that open with "##" count, compared without it.
  Match longest_prefix(std::string_view text, bool inside_word) const;

 private:
  // Offsets into lines_ instead of views, which a move would leave dangling.
  struct Entry {
    std::uint32_t begin;
    std::uint32_t bytes;
  };
  struct Slot {
    std::uint32_t tag = 0;  // Spares most comparisons of the text.
    std::int32_t id = kNone;
  };

  void add_line(std::size_t begin, std::size_t end);
  void build_slots();
  std::size_t slot_index(std::uint64_t hash) const;
  std::int32_t lookup(std::uint64_t hash, std::string_view prefix,
                      std::string_view rest) const;

  std::string lines_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // Open addressing; a power of two, half empty.
  std::size_t longest_bytes_ = 0;
};

}  // namespace minilm
