#include "examples/minilm/unicode.h"

#include <algorithm>

#include "examples/minilm/unicode_tables.h"

namespace minilm::unicode {
namespace {

// Hangul syllables are laid out as initial x vowel x final consonant, and
// decompose by arithmetic (Unicode standard, section 3.12).
constexpr char32_t kHangulFirst = 0xAC00;
constexpr char32_t kHangulCount = 11172;
constexpr char32_t kFinals = 28;
constexpr char32_t kVowelsTimesFinals = 21 * kFinals;

// The last entry that begins at or before `c`, or null.
template <typename Entry>
const Entry* entry_before(std::span<const Entry> table, char32_t c) {
  const auto after =
      std::upper_bound(table.begin(), table.end(), c,
                       [](char32_t v, const Entry& e) { return v < e.first; });
  return after == table.begin() ? nullptr : &*(after - 1);
}

CharClass char_class(char32_t c) {
  const ClassRange* range = entry_before(class_ranges(), c);
  return range && c <= range->last ? range->char_class : CharClass::kLetter;
}

Folded fold_hangul(char32_t c) {
  const char32_t index = c - kHangulFirst;
  const char32_t initial = 0x1100 + index / kVowelsTimesFinals;
  const char32_t vowel = 0x1161 + index % kVowelsTimesFinals / kFinals;
  const char32_t final = index % kFinals;
  const std::uint8_t size = final == 0 ? 2 : 3;
  return {CharClass::kLetter, size, {initial, vowel, 0x11A7 + final}};
}

char32_t map_single(char32_t c) {
  const MappingRun* run = entry_before(mapping_runs(), c);
  if (!run) return c;
  const char32_t offset = c - run->first;
  const char32_t index = offset / run->step;
  if (index >= run->count || offset % run->step != 0) return c;
  return run->target + index * run->target_step;
}

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// The allowed second bytes differ after E0, ED, F0 and F4: there they exclude
// overlong forms, surrogates and values above 10FFFF.
bool is_second(unsigned char lead, char second) {
  const auto byte = static_cast<unsigned char>(second);
  switch (lead) {
    case 0xE0:
      return byte >= 0xA0 && byte <= 0xBF;
    case 0xED:
      return byte >= 0x80 && byte <= 0x9F;
    case 0xF0:
      return byte >= 0x90 && byte <= 0xBF;
    case 0xF4:
      return byte >= 0x80 && byte <= 0x8F;
    default:
      return is_continuation(second);
  }
}

// Bytes of the sequence that `lead` opens; 0 when it opens none.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

}  // namespace

Folded fold(char32_t c) {
  if (c - kHangulFirst < kHangulCount) return fold_hangul(c);
  const CharClass kind = char_class(c);
  if (kind == CharClass::kSpace || kind == CharClass::kDrop) {
    return {kind, 0, {}};
  }
  const Expansion* expansion = entry_before(expansions(), c);
  if (expansion && expansion->first == c) {
    const auto& t = expansion->targets;
    return {kind, expansion->count, {t[0], t[1], t[2]}};
  }
  return {kind, 1, {map_single(c)}};
}

char32_t decode_utf8(std::string_view text, std::size_t& pos) {
  const auto lead = static_cast<unsigned char>(text[pos++]);
  const std::size_t length = sequence_length(lead);
  if (length == 1) return lead;
  if (length == 0) return kReplacement;
  if (pos == text.size() || !is_second(lead, text[pos])) return kReplacement;
  char32_t c = lead & (0x7F >> length);
  const std::size_t end = pos + length - 1;
  for (; pos < end; ++pos) {
    if (pos == text.size() || !is_continuation(text[pos])) return kReplacement;
    c = (c << 6) | (static_cast<unsigned char>(text[pos]) & 0x3F);
  }
  return c;
}

void append_utf8(char32_t c, std::string& out) {
  const auto put = [&out](char32_t byte) {
    out.push_back(static_cast<char>(byte));
  };
  const auto put_tail = [&](int shift) { put(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put_tail(0);
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put_tail(6);
    put_tail(0);
  } else {
    put(0xF0 | (c >> 18));
    put_tail(12);
    put_tail(6);
    put_tail(0);
  }
}

}  // namespace minilm::unicode
