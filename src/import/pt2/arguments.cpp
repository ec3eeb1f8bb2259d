#include "src/import/pt2/arguments.h"

#include "src/import/pt2/archive.h"

namespace fxjit::import {
namespace {

using Reader = Value (*)(const Field& field, const Names& names);

Value look_up(const Field& name, const Names& names) {
  const auto found = names.find(name.text());
  if (found == names.end())
    name.fail("\"" + name.text() + "\" is not computed before this place");
  return found->second;
}

Value read_none(const Field&, const Names&) { return None; }
Value read_integer(const Field& field, const Names&) { return field.integer(); }
Value read_float(const Field& field, const Names&) { return field.number(); }
Value read_text(const Field& field, const Names&) { return field.text(); }
Value read_bool(const Field& field, const Names&) { return field.boolean(); }
Value read_type(const Field& field, const Names&) { return read_dtype(field); }
Value read_tensor(const Field& field, const Names& names) {
  return look_up(field.at("name"), names);
}

// {"as_name": "s"} or a number, under the kind's own name.
Value read_symbol(const Field& field, const Names& names) {
  const auto [kind, value] = field.variant();
  if (kind == "as_name") return look_up(value, names);
  if (kind == "as_int") return value.integer();
  if (kind == "as_float") return value.number();
  if (kind == "as_bool") return value.boolean();
  field.fail("expected a name or a number, got " + std::string(kind));
}

Value read_optional_tensor(const Field& field, const Names& names) {
  const auto [kind, value] = field.variant();
  if (kind == "as_none") return None;
  if (kind == "as_tensor") return read_tensor(value, names);
  field.fail("expected as_tensor or as_none, got " + std::string(kind));
}

Value read_layout(const Field& field, const Names&) {
  constexpr int64_t kStrided = 7;
  if (field.integer() != kStrided)
    field.fail("layout " + std::to_string(field.integer()) +
               " is not supported: tensors are strided");
  return "torch.strided";
}

Value read_memory_format(const Field& field, const Names&) {
  constexpr const char* kFormats[] = {
      "torch.contiguous_format", "torch.channels_last",
      "torch.channels_last_3d", "torch.preserve_format"};
  const int64_t number = field.integer();
  if (number < 1 || number > std::ssize(kFormats))
    field.fail("unknown memory format " + std::to_string(number));
  return kFormats[number - 1];
}

Value read_device(const Field& field, const Names&) {
  return field.at("type").text();
}

template <Reader read>
Value read_list(const Field& field, const Names& names) {
  ValueList items;
  for (const Field& item : field.items()) items.push_back(read(item, names));
  return Value::list(std::move(items));
}

constexpr std::pair<std::string_view, Reader> kKinds[] = {
    {"as_none", read_none},
    {"as_tensor", read_tensor},
    {"as_tensors", read_list<read_tensor>},
    {"as_int", read_integer},
    {"as_ints", read_list<read_integer>},
    {"as_float", read_float},
    {"as_floats", read_list<read_float>},
    {"as_string", read_text},
    {"as_strings", read_list<read_text>},
    {"as_sym_int", read_symbol},
    {"as_sym_ints", read_list<read_symbol>},
    {"as_scalar_type", read_type},
    {"as_memory_format", read_memory_format},
    {"as_operator", read_text},
    {"as_layout", read_layout},
    {"as_device", read_device},
    {"as_bool", read_bool},
    {"as_bools", read_list<read_bool>},
    {"as_sym_bool", read_symbol},
    {"as_sym_bools", read_list<read_symbol>},
    {"as_sym_float", read_symbol},
    {"as_sym_floats", read_list<read_symbol>},
    {"as_optional_tensor", read_optional_tensor},
    {"as_optional_tensors", read_list<read_optional_tensor>},
    {"as_nested_tensors", read_list<read_list<read_tensor>>},
    {"as_int_lists", read_list<read_list<read_integer>>},
    {"as_float_lists", read_list<read_list<read_float>>}};

// as_sym_int, as_sym_float, as_sym_bool.
std::optional<std::string> symbol_name(const Field& symbol) {
  const auto [kind, value] = symbol.variant();
  if (kind == "as_name") return value.text();
  return std::nullopt;
}

}  // namespace

Value read_argument(const Field& argument, const Names& names) {
  const auto [kind, value] = argument.variant();
  for (const auto& [known, read] : kKinds)
    if (known == kind) return read(value, names);
  argument.fail("arguments of kind " + std::string(kind) +
                " are not supported");
}

std::optional<std::string> defined_name(const Field& argument) {
  const auto [kind, value] = argument.variant();
  if (kind == "as_tensor") return value.at("name").text();
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool")
    return symbol_name(value);
  return std::nullopt;
}

Value read_results(const Field& outputs) {
  ValueList results;
  for (const Field& output : outputs.items()) {
    const auto [kind, value] = output.variant();
    if (const auto name = defined_name(output)) {
      results.emplace_back(*name);
    } else if (kind == "as_tensors" || kind == "as_optional_tensors") {
      ValueList names;
      for (const Field& item : value.items()) {
        const bool optional = kind == "as_optional_tensors";
        const auto part = optional ? defined_name(item)
                                   : std::optional(item.at("name").text());
        names.emplace_back(part ? Value(*part) : Value());
      }
      results.push_back(Value::list(std::move(names)));
    } else if (kind == "as_none") {
      results.emplace_back();
    } else {
      output.fail("results of kind " + std::string(kind) +
                  " are not supported");
    }
  }
  return Value::list(std::move(results));
}

}  // namespace fxjit::import
