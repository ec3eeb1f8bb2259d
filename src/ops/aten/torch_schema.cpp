#include "src/ops/aten/torch_schema.h"

#include "src/ops/table/schema.h"

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

}  // namespace

std::vector<Parameter> parse_torch_schema(std::string_view schema) {
  std::vector<Parameter> parsed = parse_parameters(
      schema.substr(1, schema.rfind(") -> ") - 1), parse_default);
  // torch's number of int64, the only type that schemas have as default.
  for (Parameter& parameter : parsed)
    if (parameter.name == "dtype" && same(parameter.default_value, 4))
      parameter.default_value = DType::i64;
  return parsed;
}

}  // namespace fxjit::ops
