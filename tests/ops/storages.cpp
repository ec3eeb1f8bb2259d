#include "tests/ops/storages.h"

#include <sstream>
#include <unordered_map>

namespace fxjit::testing {
namespace {

// Those of dims of one element mean nothing.
std::string strides_of(const Tensor& t) {
  std::string word;
  for (int d = 0; d < t.dim(); ++d)
    word += (d ? "," : "") +
            std::to_string(t.sizes()[d] == 1 ? Size(0) : t.strides()[d]);
  return word.empty() ? "()" : word;
}

}  // namespace
namespace {

Tensor apart(const Tensor& tensor) {
  int64_t end = tensor.offset() + 1;
  for (int d = 0; d < tensor.dim(); ++d)
    end += std::max<int64_t>(tensor.sizes()[d] - 1, 0) * tensor.strides()[d];
  // Views of nothing may begin behind their memory.
  const int64_t there =
      static_cast<int64_t>(tensor.storage()->bytes() / tensor.item_size());
  const Tensor memory = tensor.as_strided({std::min(end, there)}, {1}, 0);
  return memory.clone().as_strided(tensor.sizes(), tensor.strides(),
                                   tensor.offset());
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : "_") + word;
  return text.empty() ? "-" : text;
}

class Letters {
 public:
  std::string next() { return std::string(1, letter_++); }

 private:
  char letter_ = 'a';
};

}  // namespace

Value apart(const Value& argument) {
  return map_leaves(argument, [](const Value& leaf) {
    return leaf.is_tensor() ? Value(apart(leaf.as_tensor())) : leaf;
  });
}

Value without_numbers(const Value& argument) {
  return map_leaves(argument, [](const Value& leaf) -> Value {
    if (!leaf.is_tensor()) return leaf;
    const Tensor& t = leaf.as_tensor();
    return Tensor::meta(t.sizes(), t.dtype(), t.strides(), t.offset());
  });
}

std::string memories(const Value& result, const ValueList& arguments) {
  std::unordered_map<const Storage*, std::string> known;
  int count = 0;
  for (const Value& argument : arguments)
    visit_leaves(argument, [&](const Value& leaf) {
      if (leaf.is_tensor())
        known.emplace(leaf.as_tensor().storage().get(),
                      std::to_string(count++));
    });
  Letters letters;
  std::vector<std::string> words;
  visit_leaves(result, [&](const Value& leaf) {
    if (!leaf.is_tensor()) return;
    std::string& word = known[leaf.as_tensor().storage().get()];
    if (word.empty()) word = letters.next();
    words.push_back(word);
  });
  return joined(words);
}

std::string memories(const std::vector<ops::ResultMemory>& told) {
  Letters letters;
  std::vector<std::string> words;
  std::string together;
  for (const ops::ResultMemory& memory : told) {
    if (memory.argument >= 0) {
      words.push_back(std::to_string(memory.argument));
    } else if (memory.argument == ops::ResultMemory::kOwn) {
      words.push_back(letters.next());
    } else {
      if (together.empty()) together = letters.next();
      words.push_back(together);
    }
  }
  return joined(words);
}

std::string layouts(const Value& result, const std::string& expected) {
  std::string words;
  std::istringstream rest(expected);
  visit_leaves(result, [&](const Value& leaf) {
    if (!leaf.is_tensor()) return;
    std::string known;
    std::getline(rest, known, '_');
    if (!words.empty()) words += '_';
    words += known == "-" ? known : strides_of(leaf.as_tensor());
  });
  return words;
}

}  // namespace fxjit::testing
