#include "tests/ops/reference.h"

#include "tests/ops/reference_values.h"

namespace fxjit::testing {
namespace {

class Parser {
 public:
  void pool(const std::vector<std::string>& words) {
    pools_.add(words.at(1), dtype(words.at(1)), words.at(2));
  }

  ReferenceCase parse(const std::string& line,
                      const std::vector<std::string>& words) const {
    ReferenceCase result;
    result.op = words.at(1);
    result.text = line.substr(5, line.find(" -> ") - 5);
    size_t i = 2;
    for (; words.at(i) != "->"; ++i) {
      const size_t mark = words[i].find('=');
      if (mark == std::string::npos)
        result.args.push_back(argument(words[i]));
      else
        result.kwargs.emplace_back(words[i].substr(0, mark),
                                   argument(words[i].substr(mark + 1)));
    }
    result.expected = tensor_of(words.at(i + 3), dtype(words.at(i + 1)),
                                dims(words.at(i + 2)));
    return result;
  }

 private:
  Value argument(const std::string& word) const {
    if (const auto plain = plain_value(word)) return *plain;
    if (word[0] == 's') return word.substr(2);
    if (word[0] != 't') throw UserError("reference: bad argument " + word);
    const std::vector<std::string> parts = split(word, ':');
    return pools_.view(parts.at(1), parts.at(2), parts.at(3), parts.at(4));
  }

  ReferencePools pools_;
};

Tolerance tolerance(DType type) {
  switch (type) {
    case DType::f32:
      return {3e-6, 3e-7};
    case DType::f64:
      return {1e-13, 1e-15};
    case DType::f16:
      return {1.1e-3, 1e-6};
    case DType::bf16:
      return {8e-3, 1e-6};
    default:
      return {0, 0};
  }
}

}  // namespace

std::vector<ReferenceCase> read_reference(const std::string& file_name) {
  Parser parser;
  std::vector<ReferenceCase> cases;
  for (const std::string& line : reference_lines(file_name)) {
    const std::vector<std::string> words = words_of(line);
    if (words.at(0) == "pool")
      parser.pool(words);
    else
      cases.push_back(parser.parse(line, words));
  }
  return cases;
}

std::string difference(const Tensor& got, const Tensor& expected) {
  if (got.dtype() != expected.dtype() || !(got.sizes() == expected.sizes()))
    return "expected " + expected.describe() + ", got " + got.describe();
  return first_difference(got, expected, tolerance(expected.dtype()));
}

}  // namespace fxjit::testing
