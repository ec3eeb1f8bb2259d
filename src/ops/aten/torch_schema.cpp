#include "src/ops/aten/torch_schema.h"

#include <charconv>
#include <string>

#include "src/ops/aten/split_text.h"

namespace fxjit::ops {
namespace {

Value parse_number(std::string_view text) {
  const char* const end = text.data() + text.size();
  int64_t whole = 0;
  const auto as_whole = std::from_chars(text.data(), end, whole);
  if (as_whole.ec == std::errc() && as_whole.ptr == end) return whole;
  double number = 0;
  const auto as_number = std::from_chars(text.data(), end, number);
  if (as_number.ec == std::errc() && as_number.ptr == end) return number;
  return None;  // A word: a memory format, a layout, a device.
}

Value parse_default(std::string_view text) {
  if (text == "None") return None;
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "Mean") return 1;
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\''))
    return text.substr(1, text.size() - 2);
  if (!text.starts_with('[')) return parse_number(text);
  ValueList items;
  for (std::string_view item : split_text(text.substr(1, text.size() - 2)))
    items.push_back(parse_default(item));
  return Value::list(std::move(items));
}

}  // namespace

std::vector<Parameter> parse_torch_schema(std::string_view schema) {
  const std::string_view parameters =
      schema.substr(1, schema.rfind(") -> ") - 1);
  std::vector<Parameter> parsed;
  bool keyword_only = false;
  for (std::string_view part : split_text(parameters)) {
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    Parameter parameter;
    parameter.keyword_only = keyword_only;
    // Behind the type, which may hold blanks: "Tensor(a -> *) self".
    const size_t mark = part.find('=');
    const std::string_view declared = part.substr(0, mark);
    parameter.name = std::string(declared.substr(declared.rfind(' ') + 1));
    if (mark != part.npos) {
      parameter.has_default = true;
      parameter.default_value = parse_default(part.substr(mark + 1));
      // torch's number of int64, the only type that schemas have as default.
      if (parameter.name == "dtype" && same(parameter.default_value, 4))
        parameter.default_value = DType::i64;
    }
    parsed.push_back(std::move(parameter));
  }
  return parsed;
}

}  // namespace fxjit::ops
