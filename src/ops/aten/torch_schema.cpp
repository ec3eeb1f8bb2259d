#include "src/ops/aten/torch_schema.h"

#include <algorithm>

#include "src/ops/table/schema.h"
#include "src/tensor/concat.h"

namespace fxjit::ops {
namespace {

Value parse_default(std::string_view text) {
  if (text == "Mean") return 1;
  // A word is a memory format, a layout, a device.
  if (!text.starts_with('[')) return parse_literal(text).value_or(None);
  ValueList items;
  for (std::string_view item : split_text(text.substr(1, text.size() - 2)))
    items.push_back(parse_default(item));
  return Value::list(std::move(items));
}

std::string_view arguments_of(std::string_view schema) {
  return schema.substr(1, schema.rfind(") -> ") - 1);
}

}  // namespace

std::vector<Parameter> parse_torch_schema(std::string_view schema) {
  std::vector<Parameter> parsed =
      parse_parameters(arguments_of(schema), parse_default);
  // torch's number of int64, the only type that schemas have as default.
  for (Parameter& parameter : parsed)
    if (parameter.name == "dtype" && same(parameter.default_value, 4))
      parameter.default_value = DType::i64;
  return parsed;
}

std::string schema_with_out(std::string_view schema) {
  constexpr std::string_view kOfNew[] = {
      "ScalarType? dtype=", "Layout? layout=", "Device? device=",
      "bool? pin_memory="};
  const bool makes = schema.find(kOfNew[1]) != schema.npos;
  bool keywords = false;
  std::string text = "(";
  for (std::string_view part : split_text(arguments_of(schema))) {
    if (makes && std::ranges::any_of(kOfNew, [&](std::string_view start) {
          return part.starts_with(start);
        }))
      continue;
    keywords |= part == "*";
    text.append(part).append(", ");
  }
  return text + (keywords ? "" : "*, ") + "Tensor(a!) out) -> Tensor(a!)";
}

std::string schema_in_place(std::string_view schema) {
  constexpr std::string_view kFirst = "(Tensor";
  return concat(
      kFirst, "(a!)",
      schema.substr(kFirst.size(), schema.rfind(") -> ") - kFirst.size()),
      ") -> Tensor(a!)");
}

}  // namespace fxjit::ops
