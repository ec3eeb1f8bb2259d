// Texts of messages, made of parts.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "fxjit/dims.h"

namespace fxjit {

// A part of a message: a text, a character, an integer or dims. It refers to
// what it was made of, and is used in the call that it was made for.
class TextPart {
 public:
  TextPart(std::string_view text) : kind_(Kind::text), text_(text) {}
  TextPart(const std::string& text) : TextPart(std::string_view(text)) {}
  TextPart(const char* text) : TextPart(std::string_view(text)) {}
  TextPart(char character) : kind_(Kind::character), integer_(character) {}
  TextPart(const Dims& dims) : kind_(Kind::dims), dims_(&dims) {}
  TextPart(Size size) : kind_(Kind::size), integer_(size.word()) {}
  template <std::signed_integral T>
  TextPart(T value) : kind_(Kind::integer), integer_(value) {}
  template <std::unsigned_integral T>
  TextPart(T value)
      : kind_(Kind::unsigned_integer),
        integer_(static_cast<int64_t>(static_cast<uint64_t>(value))) {}

  void append_to(std::string& text) const;

 private:
  enum class Kind { text, character, integer, unsigned_integer, size, dims };
  Kind kind_;
  union {
    std::string_view text_;
    int64_t integer_;
    const Dims* dims_;
  };
};

// The parts one behind the other.
std::string concat(std::initializer_list<TextPart> parts);
template <typename... Parts>
std::string concat(const Parts&... parts) {
  return concat({TextPart(parts)...});
}

}  // namespace fxjit
