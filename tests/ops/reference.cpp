#include "tests/ops/reference.h"

#include <fstream>
#include <map>
#include <sstream>

#include "tests/ops/reference_values.h"

namespace fxjit::testing {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  std::istringstream stream(text);
  while (std::getline(stream, part, separator)) parts.push_back(part);
  return parts;
}

Dims dims(const std::string& text) {
  Dims result;
  if (text == "()") return result;
  for (const std::string& part : split(text, ','))
    result.push_back(std::stoll(part));
  return result;
}

class Parser {
 public:
  void pool(const std::vector<std::string>& words) {
    const DType type = dtype(words.at(1));
    const auto count = decode_base64(words.at(2)).size() / dtype_size(type);
    pools_[words[1]] = tensor_of(words[2], type, {static_cast<int64_t>(count)});
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
    if (word == "none") return None;
    const std::string text = word.substr(2);
    switch (word[0]) {
      case 'i':
        return std::stoll(text);
      case 'f':
        return std::stod(text);
      case 'b':
        return text == "True";
      case 's':
        return text;
      case 'd':
        return dtype(text);
      case 't':
        return view(text);
      default:
        throw UserError("reference: bad argument " + word);
    }
  }

  Tensor view(const std::string& text) const {
    std::vector<std::string> parts = split(text + ":end", ':');
    return pools_.at(parts.at(0))
        .as_strided(dims(parts.at(2)), dims(parts.at(3)),
                    std::stoll(parts.at(1)));
  }

  std::map<std::string, Tensor> pools_;
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
  const std::string path =
      std::string(FXJIT_SOURCE_DIR) + "/tests/ops/" + file_name;
  std::ifstream file(path);
  if (!file) throw UserError("reference: cannot read " + path);
  Parser parser;
  std::vector<ReferenceCase> cases;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> words = split(line, ' ');
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
