// Facts about rows of a table, each said of several rows at once.
#pragma once

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace fxjit::ops {

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
      for (std::string_view rest = group.rows; !rest.empty();) {
        const std::string_view row = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(row.size() + 1, rest.size()));
        facts_.emplace(row, group.fact);
      }
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
