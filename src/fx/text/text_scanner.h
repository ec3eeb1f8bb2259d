// Characters of the text form of graphs: blanks, words, numbers and strings.
// Used by the parser; knows nothing of graphs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fxjit/value.h"

namespace fxjit::fx {

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : text_(text) {}

  // Next character behind blanks and comments; 0 at the end.
  char peek();
  bool take(char c);
  bool take(std::string_view word);
  void expect(char c);
  void expect(std::string_view word);

  // Letters, digits and "_.*", at least one.
  std::string_view word();
  bool at_number();
  Value number();  // int or float
  int64_t integer();
  bool at_string() { return peek() == '\'' || peek() == '"'; }
  std::string string();

  // ValueError with line and column.
  [[noreturn]] void fail(const std::string& expected);

 private:
  void skip_blanks();
  uint32_t hex(int digits);
  void append_escape(std::string& out, char kind);
  std::string_view rest() const { return text_.substr(at_); }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace fxjit::fx
