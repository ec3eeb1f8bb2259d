// Python's repr of Values.
#include <charconv>
#include <cmath>

#include "fxjit/value.h"
#include "src/tensor/repr_string.h"

namespace fxjit {
namespace {

struct Printer {
  LeafPrinter leaf;
  const void* context;

  std::string print(const Value& value) const;
  std::string items(const ValueList& list) const;
};

// Shortest digits that round-trip, laid out as Python's repr(float): plain
// between 1e-04 and 1e16, otherwise with an exponent of at least two digits.
std::string repr_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                 std::chars_format::scientific);
  const std::string text(buffer, end.ptr);
  const size_t mark = text.find('e');
  const int exponent = std::stoi(text.substr(mark + 1));
  const std::string sign = text[0] == '-' ? "-" : "";
  std::string digits;
  for (char c : text.substr(0, mark))
    if (c >= '0' && c <= '9') digits += c;
  if (exponent < -4 || exponent >= 16) return text;
  if (exponent < 0)
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') +
           digits;
  const size_t whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole)
    return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string repr_range(const Value::RangeView& r) {
  std::string text =
      "range(" + std::to_string(r.start) + ", " + std::to_string(r.stop);
  if (r.step != 1) text += ", " + std::to_string(r.step);
  return text + ")";
}

std::string Printer::items(const ValueList& list) const {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i)
    text += (i ? ", " : "") + print(list[i]);
  return text;
}

std::string Printer::print(const Value& value) const {
  switch (value.kind()) {
    case Value::Kind::none:
      return "None";
    case Value::Kind::boolean:
      return value.as_bool() ? "True" : "False";
    case Value::Kind::integer:
      return value.is_named_size() ? to_string(value.as_size())
                                   : std::to_string(value.as_int());
    case Value::Kind::floating:
      return repr_float(value.as_double());
    case Value::Kind::dtype:
      return "torch." + std::string(dtype_name(value.as_dtype()));
    case Value::Kind::ellipsis:
      return "Ellipsis";
    case Value::Kind::string:
      return repr_string(value.as_string());
    case Value::Kind::slice: {
      const auto s = value.as_slice();
      return "slice(" + print(s.start) + ", " + print(s.stop) + ", " +
             print(s.step) + ")";
    }
    case Value::Kind::range:
      return repr_range(value.as_range());
    case Value::Kind::tensor:
      return "tensor(" + value.as_tensor().describe() + ")";
    case Value::Kind::list:
      return "[" + items(value.as_sequence()) + "]";
    case Value::Kind::tuple:
      return "(" + items(value.as_sequence()) +
             (value.size() == 1 ? ",)" : ")");
    case Value::Kind::dict: {
      std::string text;
      for (const auto& [key, item] : value.as_dict())
        text += (text.empty() ? "" : ", ") + print(key) + ": " + print(item);
      return "{" + text + "}";
    }
    case Value::Kind::node:
    case Value::Kind::proxy:
    case Value::Kind::opaque:
      if (leaf) return leaf(value, context);
      return "<" + std::string(value.kind_name()) + ">";
  }
  return "";
}

}  // namespace

std::string repr(const Value& value, LeafPrinter leaf, const void* context) {
  return Printer{leaf, context}.print(value);
}

}  // namespace fxjit
