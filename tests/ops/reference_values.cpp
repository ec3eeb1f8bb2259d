#include "tests/ops/reference_values.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

namespace fxjit::testing {
namespace {

bool close(double got, double expected, const Tolerance& allowed) {
  if (std::isnan(expected)) return std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return got == expected;
  return std::abs(got - expected) <=
         allowed.absolute + allowed.relative * std::abs(expected);
}

}  // namespace

std::vector<std::string> reference_lines(const std::string& file_name) {
  const std::string path =
      std::string(FXJIT_SOURCE_DIR) + "/tests/ops/" + file_name;
  std::ifstream file(path);
  if (!file) throw UserError("reference: cannot read " + path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : text) {
    if (c == '[' || c == '(' || c == '<') ++depth;
    if (c == ']' || c == ')' || c == '>') --depth;
    if (c == separator && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

Dims dims(const std::string& text) {
  Dims result;
  if (text.empty() || text == "()") return result;
  for (const std::string& part : split(text, ','))
    result.push_back(std::stoll(part));
  return result;
}

std::optional<Value> plain_value(const std::string& word) {
  if (word == "none") return Value();
  const std::string text = word.substr(2);
  switch (word[0]) {
    case 'i':
      return Value(static_cast<int64_t>(std::stoll(text)));
    case 'f':
      return Value(std::stod(text));
    case 'b':
      return Value(text == "True");
    case 'd':
      return Value(dtype(text));
    default:
      return std::nullopt;
  }
}

void ReferencePools::add(const std::string& name, DType type,
                         const std::string& base64) {
  const auto count = decode_base64(base64).size() / dtype_size(type);
  pools_[name] = tensor_of(base64, type, {static_cast<int64_t>(count)});
}

Tensor ReferencePools::view(const std::string& name, const std::string& offset,
                            const std::string& sizes,
                            const std::string& strides) const {
  return pools_.at(name).as_strided(dims(sizes), dims(strides),
                                    std::stoll(offset));
}

std::string decode_base64(const std::string& text) {
  const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (char c : text) {
    const size_t digit = alphabet.find(c);
    if (digit == alphabet.npos) break;  // Padding, or "-" for no data.
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(bits >> count & 0xff);
  }
  return out;
}

DType dtype(const std::string& name) {
  const auto found = dtype_from_name(name);
  if (!found) throw UserError("reference: unknown dtype " + name);
  return *found;
}

Tensor tensor_of(const std::string& base64, DType type, const Dims& sizes) {
  const std::string bytes = decode_base64(base64);
  const Tensor tensor = Tensor::empty(sizes, type);
  if (bytes.size() != static_cast<size_t>(tensor.numel()) * dtype_size(type))
    throw UserError("reference: data does not fit " + tensor.describe());
  if (!bytes.empty()) std::memcpy(tensor.data(), bytes.data(), bytes.size());
  return tensor;
}

namespace {

// The real and imaginary parts, one after the other.
Tensor pairs_of(const Tensor& tensor) {
  const Tensor plain = tensor.contiguous();
  return Tensor::wrap(plain.data(), {2 * plain.numel()},
                      part_type(plain.dtype()),
                      std::make_shared<Tensor>(plain));
}

}  // namespace

std::string first_difference(const Tensor& got, const Tensor& expected,
                             const Tolerance& allowed) {
  if (is_complex(got.dtype()))
    return first_difference(pairs_of(got), pairs_of(expected), allowed);
  const Tensor a = got.to(DType::f64).contiguous();
  const Tensor b = expected.to(DType::f64).contiguous();
  for (int64_t i = 0; i < b.numel(); ++i) {
    const double x = a.data_as<double>()[i], y = b.data_as<double>()[i];
    if (close(x, y, allowed)) continue;
    std::ostringstream text;
    text.precision(17);
    text << "element " << i << ": expected " << y << ", got " << x;
    return text.str();
  }
  return "";
}

}  // namespace fxjit::testing
