#include "src/tensor/repr_string.h"

#include <cstddef>
#include <cstdint>

namespace fxjit {
namespace {

struct Range {
  uint32_t first, last;
};
// Controls, formats, blanks other than " ", private and lone halves of pairs,
// from 0x7f on. Characters that Unicode has not assigned count as printing.
constexpr Range kUnprintable[] = {
    {0x7f, 0xa0},         {0xad, 0xad},         {0x600, 0x605},
    {0x61c, 0x61c},       {0x6dd, 0x6dd},       {0x70f, 0x70f},
    {0x890, 0x891},       {0x8e2, 0x8e2},       {0x1680, 0x1680},
    {0x180e, 0x180e},     {0x2000, 0x200f},     {0x2028, 0x202f},
    {0x205f, 0x2064},     {0x2066, 0x206f},     {0x3000, 0x3000},
    {0xd800, 0xf8ff},     {0xfeff, 0xfeff},     {0xfff9, 0xfffb},
    {0x110bd, 0x110bd},   {0x110cd, 0x110cd},   {0x13430, 0x13438},
    {0x1bca0, 0x1bca3},   {0x1d173, 0x1d17a},   {0xe0001, 0xe0001},
    {0xe0020, 0xe007f},   {0xf0000, 0x10ffff},
};

bool prints(uint32_t character) {
  if (character < 0x20) return false;
  for (const Range& range : kUnprintable)
    if (character <= range.last) return character < range.first;
  return true;
}

struct Character {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: the text is no UTF-8 here.
};

Character decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  uint32_t code = lead & (0x7fu >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  const bool overlong =
      (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool half = code >= 0xd800 && code < 0xe000;
  if (overlong || half || code > 0x10ffff) return {};
  return {code, bytes};
}

void append_escape(std::string& out, uint32_t code) {
  constexpr char kHex[] = "0123456789abcdef";
  const int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
  out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    out += kHex[code >> shift & 15];
}

void append_character(std::string& out, uint32_t code,
                      std::string_view bytes) {
  switch (code) {
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (prints(code)) {
    out += bytes;
  } else {
    append_escape(out, code);
  }
}

}  // namespace

std::string repr_string(std::string_view text) {
  const bool has_single = text.find('\'') != text.npos;
  const char quote = has_single && text.find('"') == text.npos ? '"' : '\'';
  constexpr uint32_t kStrayByte = 0xdc00;
  std::string out(1, quote);
  while (!text.empty()) {
    const Character next = decode(text);
    if (next.bytes == 0) {
      append_escape(out, kStrayByte + static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (text[0] == quote || text[0] == '\\') out += '\\';
    append_character(out, next.code, text.substr(0, next.bytes));
    text.remove_prefix(next.bytes);
  }
  return out + quote;
}

}  // namespace fxjit
