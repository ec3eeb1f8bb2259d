// Lists of names in one text.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace fxjit::ops {

// The parts of a text between blanks.
inline std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

}  // namespace fxjit::ops
