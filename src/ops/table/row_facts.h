// Facts about rows of a table, each said of several rows at once.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_map>
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

template <typename Fact>
class RowFacts {
 public:
  struct Group {
    Fact fact;
    std::string_view rows;  // Their names, separated by blanks.
  };

  template <size_t N>
  explicit RowFacts(const Group (&groups)[N]) {
    for (const Group& group : groups)
      for (std::string_view row : words_of(group.rows))
        facts_.emplace(row, group.fact);
  }

  // Null where nothing is said of the row.
  const Fact* find(std::string_view row) const {
    const auto found = facts_.find(row);
    return found == facts_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::string_view, Fact> facts_;
};

}  // namespace fxjit::ops
