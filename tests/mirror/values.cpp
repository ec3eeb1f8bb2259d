#include "tests/mirror/values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

namespace fxjit::mirror {
namespace {

template <typename T>
std::string float_text(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

std::string tensor_line(const Tensor& tensor) {
  std::string line = tensor.describe() + ":";
  const bool single = tensor.dtype() == DType::f32;
  if (is_floating(tensor.dtype())) {
    const Tensor wide = tensor.to(DType::f64).contiguous();
    for (int64_t i = 0; i < wide.numel(); ++i) {
      const double value = wide.data_as<double>()[i];
      line += ' ';
      line += single ? float_text(static_cast<float>(value)) : float_text(value);
    }
  } else {
    for (int64_t value : tensor.to_ints()) line += ' ' + std::to_string(value);
  }
  return line;
}

void add_lines(const Value& value, std::vector<std::string>* lines) {
  if (value.is_tensor()) {
    lines->push_back(tensor_line(value.as_tensor()));
  } else if (value.is_dict()) {
    lines->push_back("dict " + std::to_string(value.size()));
    for (const auto& [key, item] : value.as_dict()) {
      lines->push_back("key " + repr(key));
      add_lines(item, lines);
    }
  } else if (value.is_sequence()) {
    lines->push_back(std::string(value.kind_name()) + " " +
                     std::to_string(value.size()));
    for (const Value& item : value.as_sequence()) add_lines(item, lines);
  } else {
    lines->push_back((value.is_float() ? "float: " : "") + repr(value));
  }
}

// "float32[2, 3]" of a tensor's line, "float" of a number's; "" for others.
std::string numeric_head(const std::string& line) {
  const bool numbers = line.starts_with("float") || line.starts_with("bfloat");
  const size_t colon = line.find(':');
  return numbers && colon != line.npos ? line.substr(0, colon) : "";
}

double parse(const std::string& word) {
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::stod(word);
}

bool close(double got, double expected, double relative, double absolute) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  return std::isfinite(got) && std::isfinite(expected) &&
         std::abs(got - expected) <= absolute + relative * std::abs(expected);
}

std::string line_difference(const std::string& got, const std::string& expected,
                            double relative, double absolute) {
  if (got == expected) return "";
  const std::string head = numeric_head(expected);
  const std::string whole = "expected " + expected + "\n     got " + got;
  if (head.empty() || numeric_head(got) != head) return whole;
  std::istringstream a(got.substr(head.size() + 1));
  std::istringstream b(expected.substr(head.size() + 1));
  int index = 0;
  for (std::string x, y;; ++index) {
    const bool more = static_cast<bool>(a >> x);
    if (more != static_cast<bool>(b >> y)) return whole;
    if (!more) return "";
    if (!close(parse(x), parse(y), relative, absolute))
      return "element " + std::to_string(index) + ": " + whole;
  }
}

}  // namespace

std::vector<std::string> describe(const Value& value) {
  std::vector<std::string> lines;
  add_lines(value, &lines);
  return lines;
}

std::string difference(const std::vector<std::string>& got,
                       const std::vector<std::string>& expected,
                       double relative, double absolute) {
  for (size_t i = 0; i < std::max(got.size(), expected.size()); ++i) {
    const std::string text =
        line_difference(i < got.size() ? got[i] : "(nothing)",
                        i < expected.size() ? expected[i] : "(nothing)",
                        relative, absolute);
    if (!text.empty()) return "line " + std::to_string(i + 1) + ": " + text;
  }
  return "";
}

}  // namespace fxjit::mirror
