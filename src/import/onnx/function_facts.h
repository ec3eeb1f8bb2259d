// Facts about functions of torch that ONNX nodes call, each said of several at
// once.
#pragma once

#include <string_view>
#include <unordered_map>

#include "src/ops/table/words.h"

namespace fxjit::onnx {

template <typename Fact>
class FunctionFacts {
 public:
  struct Group {
    Fact fact;
    std::string_view functions;  // Their names, separated by blanks.
  };

  template <size_t N>
  explicit FunctionFacts(const Group (&groups)[N]) {
    for (const Group& group : groups)
      for (std::string_view name : ops::words_of(group.functions))
        facts_.emplace(name, group.fact);
  }

  // Null where nothing is said of the function.
  const Fact* find(std::string_view function) const {
    const auto found = facts_.find(function);
    return found == facts_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::string_view, Fact> facts_;
};

}  // namespace fxjit::onnx
