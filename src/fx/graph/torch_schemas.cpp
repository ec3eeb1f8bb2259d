#include "src/fx/graph/torch_schemas.h"

#include <algorithm>

#include "src/ops/aten/torch_schema.h"

namespace fxjit::fx {
namespace {

bool fits(std::string_view schema, size_t num_args, const Kwargs& kwargs) {
  size_t positional = 0, named = 0;
  for (const ops::Parameter& parameter : ops::parse_torch_schema(schema)) {
    // As Python's functions call it.
    const std::string_view name =
        parameter.name == "self" ? "input" : std::string_view(parameter.name);
    const bool given =
        std::any_of(kwargs.begin(), kwargs.end(),
                    [&](const auto& kwarg) { return kwarg.first == name; });
    const bool by_position = !parameter.keyword_only && positional < num_args;
    if (given && by_position) return false;
    if (!given && !by_position && !parameter.has_default) return false;
    positional += by_position;
    named += given;
  }
  return positional == num_args && named == kwargs.size();
}

std::vector<TorchSchema> sorted_by_function() {
  std::vector<TorchSchema> schemas;
  for (const ops::OverloadRow& row : ops::overload_rows())
    for (std::string_view rest = row.functions; !rest.empty();) {
      const std::string_view function = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(function.size() + 1, rest.size()));
      schemas.push_back({function, &row});
    }
  std::ranges::stable_sort(schemas, {}, &TorchSchema::function);
  return schemas;
}

}  // namespace

bool TorchSchema::is_mutable() const {
  return row->schema.find("!)") != std::string_view::npos;
}

std::string TorchSchema::text() const {
  std::string_view name = row->name;
  if (name.ends_with(".default")) name.remove_suffix(8);
  return "aten::" + std::string(name) + std::string(row->schema);
}

std::span<const TorchSchema> torch_schemas(std::string_view function) {
  static const std::vector<TorchSchema> all = sorted_by_function();
  return std::ranges::equal_range(all, function, {}, &TorchSchema::function);
}

std::vector<TorchSchema> fitting_schemas(std::string_view function,
                                         size_t num_args,
                                         const Kwargs& kwargs) {
  std::vector<TorchSchema> fitting;
  for (const TorchSchema& schema : torch_schemas(function))
    if (fits(schema.row->schema, num_args, kwargs)) fitting.push_back(schema);
  return fitting;
}

}  // namespace fxjit::fx
