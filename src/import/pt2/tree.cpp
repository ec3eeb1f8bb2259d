#include "src/import/pt2/tree.h"

#include <optional>

namespace fxjit::import {
namespace {

constexpr int64_t kVersion = 1;

// Names of a container's parts, which stand as JSON in the text of its context.
// Nothing where the context is no list of as many names.
std::optional<std::vector<Value>> part_names(const Field& context,
                                             size_t parts) {
  if (!context.is_string()) return std::nullopt;
  const nlohmann::json names = nlohmann::json::parse(
      context.text(), /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!names.is_array() || names.size() != parts) return std::nullopt;
  std::vector<Value> keys;
  for (const nlohmann::json& name : names) {
    if (name.is_string())
      keys.emplace_back(name.get<std::string>());
    else if (name.is_number_integer())
      keys.emplace_back(name.get<int64_t>());
    else
      return std::nullopt;
  }
  return keys;
}

Value with_names(const std::vector<Value>& names, ValueList parts) {
  ValueDict entries;
  for (size_t i = 0; i < parts.size(); ++i)
    entries.emplace_back(names[i], std::move(parts[i]));
  return Value::dict(std::move(entries));
}

Value read_node(const Field& node) {
  const Field type = node.at("type");
  if (type.is_null()) return None;
  ValueList parts;
  for (const Field& child : node.at("children_spec").items())
    parts.push_back(read_node(child));
  const std::string& name = type.text();
  if (name == "builtins.list") return Value::list(std::move(parts));
  if (name == "builtins.tuple" || name == "collections.namedtuple")
    return Value::tuple(std::move(parts));
  const Field context = node.at("context");
  const auto names = part_names(context, parts.size());
  if (names) return with_names(*names, std::move(parts));
  if (name == "builtins.dict" || name == "collections.OrderedDict")
    context.fail("expected " + std::to_string(parts.size()) +
                 " keys, texts or whole numbers");
  return Value::tuple(std::move(parts));
}

}  // namespace

Value read_tree(const Field& field) {
  const auto text = field.parse_text();
  const std::vector<Field> parts = Field(*text).items();
  if (parts.size() != 2) field.fail("expected a version and a tree");
  if (parts[0].integer() != kVersion)
    field.fail("version " + std::to_string(parts[0].integer()) +
               " of trees: expected 1: export again with torch 2.13");
  return read_node(parts[1]);
}

}  // namespace fxjit::import
