#include "src/ops/table/schema.h"

#include <charconv>
#include <limits>
#include <string>

namespace fxjit::ops {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Splits at commas outside of parentheses and quotes; drops an empty tail.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '\'') quoted = !quoted;
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (i < text.size() && (c != ',' || depth > 0 || quoted)) continue;
    const std::string_view part = trim(text.substr(start, i - start));
    if (!part.empty()) parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

Value parse_number(std::string_view text) {
  const char* end = text.data() + text.size();
  int64_t integer = 0;
  const auto as_int = std::from_chars(text.data(), end, integer);
  if (as_int.ec == std::errc() && as_int.ptr == end) return integer;
  double floating = 0;  // Also reads "inf" and "-inf".
  const auto as_double = std::from_chars(text.data(), end, floating);
  if (as_double.ec == std::errc() && as_double.ptr == end) return floating;
  throw UserError("schema: expected a default value, got `" +
                  std::string(text) + "`");
}

Value parse_default(std::string_view text) {
  if (text == "None") return None;
  if (text == "True") return true;
  if (text == "False") return false;
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return text.substr(1, text.size() - 2);
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') {
    ValueList items;
    for (std::string_view item : split(text.substr(1, text.size() - 2)))
      items.push_back(parse_default(item));
    return Value::tuple(std::move(items));
  }
  return parse_number(text);
}

}  // namespace

std::vector<Parameter> parse_schema(std::string_view schema) {
  std::vector<Parameter> parameters;
  bool keyword_only = false;
  for (std::string_view part : split(schema)) {
    if (part == "*") {
      keyword_only = true;
      continue;
    }
    Parameter parameter;
    parameter.keyword_only = keyword_only;
    if (part.front() == '*') {
      parameter.variadic = true;
      parameter.has_default = true;
      parameter.default_value = Value::tuple({});
      keyword_only = true;
      part.remove_prefix(1);
    }
    const size_t mark = part.find('=');
    parameter.name = std::string(trim(part.substr(0, mark)));
    if (mark != part.npos) {
      parameter.has_default = true;
      parameter.default_value = parse_default(trim(part.substr(mark + 1)));
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

}  // namespace fxjit::ops
