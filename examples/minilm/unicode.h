// The Unicode part of BERT's uncased normaliser, one code point at a time:
// cleaning, spacing of ideographs, canonical decomposition, removal of accents
// and lower case in one step. Called by the tokenizer only. Marks are not put
// in canonical order: those that could move are in no uncased vocabulary.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace minilm::unicode {

inline constexpr char32_t kReplacement = 0xFFFD;

// What a code point does to the word that it stands in.
enum class CharClass : std::uint8_t {
  kLetter,  // Continues the word; everything that is not one of the others.
  kAlone,   // Ends the word and is one itself: punctuation, ideographs.
  kSpace,   // Ends the word.
  kDrop,    // Vanishes; the word goes on: controls, accents.
};

// A code point after normalisation; `size` is 0 for kSpace and kDrop.
struct Folded {
  CharClass char_class;
  std::uint8_t size;
  std::array<char32_t, 3> chars;
};

// Normalises one code point. Any value is accepted.
Folded fold(char32_t c);

// Reads the code point at `pos` (which must be inside `text`) and moves `pos`
// behind it. Malformed input, surrogates and overlong forms included, gives
// kReplacement and skips the longest prefix that could begin a valid sequence,
// at least one byte.
char32_t decode_utf8(std::string_view text, std::size_t& pos);

// Appends the UTF-8 form of `c`, which must be a valid code point.
void append_utf8(char32_t c, std::string& out);

}  // namespace minilm::unicode
