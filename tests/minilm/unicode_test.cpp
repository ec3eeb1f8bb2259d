#include "examples/minilm/unicode.h"

#include <gtest/gtest.h>

namespace minilm::unicode {
namespace TEST_FILE {

constexpr char32_t kCodePoints = 0x110000;

bool is_surrogate(char32_t c) { return c >= 0xD800 && c < 0xE000; }

std::u32string decode(std::string_view text) {
  std::u32string out;
  for (std::size_t pos = 0; pos < text.size();) {
    out += decode_utf8(text, pos);
  }
  return out;
}

TEST(UnicodeTest, EveryCodePointSurvivesUtf8) {
  for (char32_t c = 0; c < kCodePoints; ++c) {
    if (is_surrogate(c)) continue;
    std::string text;
    append_utf8(c, text);
    std::size_t pos = 0;
    ASSERT_EQ(decode_utf8(text, pos), c);
    ASSERT_EQ(pos, text.size());
  }
}

// Expected results are those of the Unicode standard's "maximal subpart" rule.
TEST(UnicodeTest, MalformedUtf8LosesNoValidNeighbour) {
  const auto r = std::u32string(1, kReplacement);
  EXPECT_EQ(decode("a\x80z"), U"a" + r + U"z");
  EXPECT_EQ(decode("\xE2\x82z"), r + U"z");
  EXPECT_EQ(decode("\xF0\x9F\x98z"), r + U"z");
  EXPECT_EQ(decode("\xC3"), r);
  EXPECT_EQ(decode("\xE2\xC3\xA9"), r + U"\u00E9");
  EXPECT_EQ(decode("\xC0\x80"), r + r);
  EXPECT_EQ(decode("\xED\xA0\x80"), r + r + r);
  EXPECT_EQ(decode("\xF4\x90\x80\x80"), r + r + r + r);
  EXPECT_EQ(decode("\xF5z"), r + U"z");
}

TEST(UnicodeTest, FoldingIsSettledAfterOneStep) {
  for (char32_t c = 0; c < kCodePoints; ++c) {
    const Folded once = fold(c);
    for (std::size_t i = 0; i < once.size; ++i) {
      const Folded twice = fold(once.chars[i]);
      ASSERT_EQ(twice.size, 1) << std::hex << static_cast<unsigned>(c);
      ASSERT_EQ(twice.chars[0], once.chars[i])
          << std::hex << static_cast<unsigned>(c);
    }
  }
}

struct Case {
  char32_t from;
  CharClass char_class;
  std::u32string_view to;
};

TEST(UnicodeTest, FoldsByHand) {
  const Case cases[] = {
      {U'A', CharClass::kLetter, U"a"},
      {U'\u00C9', CharClass::kLetter, U"e"},       // Accent removed.
      {U'\u0130', CharClass::kLetter, U"i"},       // Turkish dotted I.
      {U'\u03C2', CharClass::kLetter, U"\u03C2"},  // Final sigma stays.
      {U'\u00DF', CharClass::kLetter, U"\u00DF"},  // Sharp s stays.
      {U'\uD55C', CharClass::kLetter, U"\u1112\u1161\u11AB"},
      {U'\uAC00', CharClass::kLetter, U"\u1100\u1161"},
      {U'\u0378', CharClass::kLetter, U"\u0378"},  // Unassigned.
      {U'\u4E2D', CharClass::kAlone, U"\u4E2D"},
      {U'\uF900', CharClass::kAlone, U"\u8C48"},  // Compatibility ideograph.
      {U'\u2260', CharClass::kAlone, U"="},       // Not equal, stroke lost.
      {U'$', CharClass::kAlone, U"$"},
      {U'\u3000', CharClass::kSpace, U""},
      {U'\u0301', CharClass::kDrop, U""},
      {U'\u200B', CharClass::kDrop, U""},
      {kReplacement, CharClass::kDrop, U""},
      {U'\U00010400', CharClass::kLetter, U"\U00010428"},
  };
  for (const Case& c : cases) {
    const Folded folded = fold(c.from);
    EXPECT_EQ(folded.char_class, c.char_class)
        << std::hex << static_cast<unsigned>(c.from);
    EXPECT_EQ(std::u32string(folded.chars.data(), folded.size), c.to)
        << std::hex << static_cast<unsigned>(c.from);
  }
}

}  // namespace TEST_FILE
}  // namespace minilm::unicode
