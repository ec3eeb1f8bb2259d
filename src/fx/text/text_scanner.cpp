#include "src/fx/text/text_scanner.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "fxjit/error.h"

namespace fxjit::fx {
namespace {

bool is_decimal(char c) { return c >= '0' && c <= '9'; }
bool is_word_char(char c) {
  return is_decimal(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_' || c == '.' || c == '*';
}

int hex_digit(char c) {
  if (is_decimal(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// A character, or one of the bytes that are none (see repr_string).
void append_utf8(std::string& out, uint32_t code) {
  auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code >= 0xdc80 && code <= 0xdcff) return add(code & 0xff);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | (code >> 18 & 7));
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

}  // namespace

void TextScanner::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

char TextScanner::peek() {
  skip_blanks();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool TextScanner::take(char c) {
  if (peek() != c) return false;
  ++at_;
  return true;
}

bool TextScanner::take(std::string_view word) {
  peek();
  if (!rest().starts_with(word)) return false;
  at_ += word.size();
  return true;
}

void TextScanner::expect(char c) {
  if (!take(c)) fail(std::string("'") + c + "'");
}

void TextScanner::expect(std::string_view word) {
  if (!take(word)) fail("'" + std::string(word) + "'");
}

std::string_view TextScanner::word() {
  peek();
  const size_t begin = at_;
  while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
  if (at_ == begin) fail("a name");
  return text_.substr(begin, at_ - begin);
}

bool TextScanner::at_number() {
  const char c = peek();
  if (is_decimal(c)) return true;
  if (c != '-' || at_ + 1 >= text_.size()) return false;
  return is_decimal(text_[at_ + 1]) || text_[at_ + 1] == 'i';  // "-inf"
}

Value TextScanner::number() {
  if (take("-inf")) return -std::numeric_limits<double>::infinity();
  peek();
  size_t end = at_ + (text_[at_] == '-');
  bool is_float = false;
  for (; end < text_.size(); ++end) {
    const char c = text_[end];
    const bool sign = (c == '-' || c == '+') &&
                      (text_[end - 1] == 'e' || text_[end - 1] == 'E');
    if (c == '.' || c == 'e' || c == 'E') {
      is_float = true;
    } else if (!is_decimal(c) && !sign) {
      break;
    }
  }
  const char* const first = text_.data() + at_;
  const char* const last = text_.data() + end;
  double real = 0;
  int64_t whole = 0;
  const auto parsed = is_float ? std::from_chars(first, last, real)
                               : std::from_chars(first, last, whole);
  if (parsed.ec != std::errc() || parsed.ptr != last)
    fail("a number that fits 64 bits");
  at_ = end;
  return is_float ? Value(real) : Value(whole);
}

int64_t TextScanner::integer() {
  if (!at_number()) fail("an integer");
  const Value value = number();
  if (!value.is_int()) fail("an integer");
  return value.as_int();
}

uint32_t TextScanner::hex(int digits) {
  uint32_t code = 0;
  for (int i = 0; i < digits; ++i) {
    const int digit = at_ < text_.size() ? hex_digit(text_[at_]) : -1;
    if (digit < 0) fail("a hexadecimal digit");
    code = code << 4 | static_cast<uint32_t>(digit);
    ++at_;
  }
  constexpr uint32_t kLastCharacter = 0x10ffff;
  if (code > kLastCharacter) fail("a character of Unicode");
  return code;
}

void TextScanner::append_escape(std::string& out, char kind) {
  constexpr std::string_view kKinds = "nrt\\'\"", kMeant = "\n\r\t\\'\"";
  if (const size_t at = kKinds.find(kind); at != kKinds.npos)
    out += kMeant[at];
  else if (kind == 'x' || kind == 'u' || kind == 'U')
    append_utf8(out, hex(kind == 'x' ? 2 : kind == 'u' ? 4 : 8));
  else
    fail("an escape of Python's repr");
}

std::string TextScanner::string() {
  const char quote = peek();
  if (!at_string()) fail("a quoted string");
  ++at_;
  std::string value;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == quote) return value;
    if (c != '\\') {
      value += c;
    } else if (at_ < text_.size()) {
      const char kind = text_[at_++];
      append_escape(value, kind);
    }
  }
  fail("the end of a string");
}

void TextScanner::fail(const std::string& expected) {
  const std::string_view before = text_.substr(0, std::min(at_, text_.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t start = before.rfind('\n') + 1;  // 0 when there is none.
  std::string got = "the end";
  if (at_ < text_.size()) {
    constexpr size_t kShown = 20;
    const std::string_view left = rest();
    got = "'" + std::string(left.substr(0, std::min(left.find('\n'), kShown))) +
          "'";
  }
  throw ValueError("[parse_graph] line " + std::to_string(line) + ", column " +
                   std::to_string(before.size() - start + 1) + ": expected " +
                   expected + ", got " + got);
}

}  // namespace fxjit::fx
