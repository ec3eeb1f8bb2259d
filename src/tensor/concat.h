// Texts of messages, made of parts.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "fxjit/dims.h"

namespace fxjit {

inline std::string_view text_of(std::string_view text) { return text; }
inline std::string text_of(const Dims& dims) { return dims.str(); }
template <std::integral T>
std::string text_of(T value) {
  if constexpr (std::same_as<T, char>) return std::string(1, value);
  return std::to_string(value);
}

// The parts one behind the other: texts, characters, integers and dims.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::string text;
  (text.append(text_of(parts)), ...);
  return text;
}

}  // namespace fxjit
