#include "src/fx/torch_schemas.h"

#include <algorithm>
#include <string>

namespace fxjit::fx {
namespace {

struct SchemaParameter {
  std::string_view name;
  bool has_default = false;
  bool keyword_only = false;
};

// What stands between the schema's outer brackets.
std::string_view parameter_text(std::string_view schema) {
  const size_t begin = schema.find('(') + 1;
  return schema.substr(begin, schema.rfind(") -> ") - begin);
}

// "Scalar alpha=1" at the start of `text`, which loses it and the comma behind.
// Commas in brackets ("int[2] stride=[1, 1]") separate nothing.
std::string_view take_parameter(std::string_view& text) {
  int depth = 0;
  size_t end = 0;
  for (; end < text.size() && (depth > 0 || text[end] != ','); ++end) {
    depth += text[end] == '(' || text[end] == '[';
    depth -= text[end] == ')' || text[end] == ']';
  }
  const std::string_view parameter = text.substr(0, end);
  text.remove_prefix(std::min(end + 2, text.size()));
  return parameter;
}

std::vector<SchemaParameter> parameters_of(std::string_view schema) {
  std::vector<SchemaParameter> parameters;
  bool keyword_only = false;
  for (std::string_view text = parameter_text(schema); !text.empty();) {
    const std::string_view declared = take_parameter(text);
    if (declared == "*") {
      keyword_only = true;
      continue;
    }
    const size_t equals = declared.find('=');
    const std::string_view typed = declared.substr(0, equals);
    SchemaParameter parameter;
    parameter.name = typed.substr(typed.rfind(' ') + 1);
    // As Python's functions call it.
    if (parameter.name == "self") parameter.name = "input";
    parameter.has_default = equals != declared.npos;
    parameter.keyword_only = keyword_only;
    parameters.push_back(parameter);
  }
  return parameters;
}

bool fits(std::string_view schema, size_t num_args, const Kwargs& kwargs) {
  size_t positional = 0, named = 0;
  for (const SchemaParameter& parameter : parameters_of(schema)) {
    const bool given =
        std::any_of(kwargs.begin(), kwargs.end(), [&](const auto& kwarg) {
          return kwarg.first == parameter.name;
        });
    const bool by_position = !parameter.keyword_only && positional < num_args;
    if (given && by_position) return false;
    if (!given && !by_position && !parameter.has_default) return false;
    positional += by_position;
    named += given;
  }
  return positional == num_args && named == kwargs.size();
}

struct ByFunction {
  bool operator()(const TorchSchema& a, std::string_view b) const {
    return a.function < b;
  }
  bool operator()(std::string_view a, const TorchSchema& b) const {
    return a < b.function;
  }
};

}  // namespace

bool TorchSchema::is_mutable() const {
  return parameter_text(text).find("!)") != std::string_view::npos;
}

std::span<const TorchSchema> torch_schemas(std::string_view function) {
  const std::span<const TorchSchema> all = all_torch_schemas();
  const auto [first, last] =
      std::equal_range(all.begin(), all.end(), function, ByFunction());
  return {first, last};
}

std::vector<TorchSchema> fitting_schemas(std::string_view function,
                                         size_t num_args,
                                         const Kwargs& kwargs) {
  std::vector<TorchSchema> fitting;
  for (const TorchSchema& schema : torch_schemas(function))
    if (fits(schema.text, num_args, kwargs)) fitting.push_back(schema);
  return fitting;
}

}  // namespace fxjit::fx
