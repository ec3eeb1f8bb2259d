#include "src/ops/table/schema.h"

#include <charconv>
#include <string>

namespace fxjit::ops {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Value parse_default(std::string_view text) {
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') {
    ValueList items;
    for (std::string_view item : split_text(text.substr(1, text.size() - 2)))
      items.push_back(parse_default(item));
    return Value::tuple(std::move(items));
  }
  if (const std::optional<Value> literal = parse_literal(text)) return *literal;
  throw UserError("schema: expected a default value, got `" +
                  std::string(text) + "`");
}

}  // namespace

std::vector<Parameter> parse_schema(std::string_view schema) {
  return parse_parameters(schema, parse_default);
}

std::vector<Parameter> parse_parameters(std::string_view text,
                                        DefaultFn parse) {
  std::vector<Parameter> parameters;
  bool keyword_only = false;
  for (std::string_view part : split_text(text)) {
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
    // Types may hold blanks: "Tensor(a -> *) self".
    const size_t mark = part.find('=');
    const std::string_view declared = trim(part.substr(0, mark));
    if (parse == parse_default && declared.find(' ') != declared.npos)
      throw UserError("schema: expected one name, got `" +
                      std::string(declared) + "`");
    parameter.name = std::string(declared.substr(declared.rfind(' ') + 1));
    if (mark != part.npos) {
      parameter.has_default = true;
      parameter.default_value = parse(trim(part.substr(mark + 1)));
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::optional<Value> parse_literal(std::string_view text) {
  if (text == "None") return None;
  if (text == "True") return true;
  if (text == "False") return false;
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') &&
      text.back() == text.front())
    return text.substr(1, text.size() - 2);
  const char* const end = text.data() + text.size();
  int64_t integer = 0;
  const auto as_int = std::from_chars(text.data(), end, integer);
  if (as_int.ec == std::errc() && as_int.ptr == end) return integer;
  double floating = 0;  // Also reads "inf" and "-inf".
  const auto as_double = std::from_chars(text.data(), end, floating);
  if (as_double.ec == std::errc() && as_double.ptr == end) return floating;
  return std::nullopt;
}

std::vector<std::string_view> split_text(std::string_view text) {
  constexpr std::string_view kOpen = "([", kClose = ")]";
  std::vector<std::string_view> parts;
  int depth = 0;
  char quote = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (quote != 0 ? c == quote : (c == '\'' || c == '"'))
      quote = quote != 0 ? 0 : c;
    if (quote == 0 && kOpen.find(c) != kOpen.npos) ++depth;
    if (quote == 0 && kClose.find(c) != kClose.npos) --depth;
    if (i < text.size() && (c != ',' || depth > 0 || quote != 0)) continue;
    const std::string_view part = trim(text.substr(start, i - start));
    if (!part.empty()) parts.push_back(part);
    start = i + 1;
  }
  return parts;
}

}  // namespace fxjit::ops
