// Texts of raw words: keys that nobody reads, made and compared faster than
// those of digits. Equal on all machines of one byte order.
#pragma once

#include <cstdint>
#include <string>

namespace fxjit::support {

inline void append_word(std::string& text, int64_t word) {
  text.append(reinterpret_cast<const char*>(&word), sizeof word);
}

}  // namespace fxjit::support
