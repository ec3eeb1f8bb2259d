#include "src/program/text/values.h"

#include <bit>
#include <cmath>
#include <string>
#include <string_view>

#include "src/program/steps/call_spec.h"
#include "src/program/text/words.h"

namespace fxjit::program::text {
namespace {

Json list_json(const ValueList& values) {
  Json list = Json::array();
  for (const Value& value : values) list.push_back(value_json(value));
  return list;
}

ValueList list_of(const Json& json) {
  ValueList values;
  for (const Json& item : json) values.push_back(value_of(item));
  return values;
}

Json tensor_json(const Tensor& tensor) {
  if (!tensor.is_meta())
    throw NotImplementedError("a program's text has no numbers of tensors");
  return {{"dtype", word_of(tensor.dtype())},
          {"sizes", dims_json(tensor.sizes())},
          {"strides", dims_json(tensor.strides())}};
}

Tensor tensor_of(const Json& json) {
  return Tensor::meta(dims_of(json.at("sizes")),
                      of_word<DType>(json.at("dtype").get<std::string>()),
                      dims_of(json.at("strides")));
}

Json dict_json(const ValueDict& dict) {
  Json entries = Json::array();
  for (const auto& [key, value] : dict)
    entries.push_back(Json::array({value_json(key), value_json(value)}));
  return entries;
}

Value dict_of(const Json& json) {
  ValueDict dict;
  for (const Json& entry : json)
    dict.emplace_back(value_of(entry.at(0)), value_of(entry.at(1)));
  return Value::dict(std::move(dict));
}

Value slice_of(const Json& json) {
  return Value::slice(value_of(json.at(0)), value_of(json.at(1)),
                      value_of(json.at(2)));
}

Value range_of(const Json& json) {
  const auto field = [&](size_t i) { return json.at(i).get<int64_t>(); };
  return Value::range(field(0), field(1), field(2));
}

struct Kind {
  std::string_view name;
  Value (*read)(const Json& json);
};

constexpr Kind kKinds[] = {
    {"tuple", [](const Json& json) { return Value::tuple(list_of(json)); }},
    {"dict", dict_of},
    {"tensor", [](const Json& json) { return Value(tensor_of(json)); }},
    {"float", [](const Json& json) { return Value(number_of(json)); }},
    {"dtype",
     [](const Json& json) {
       return Value(of_word<DType>(json.get<std::string>()));
     }},
    {"slice", slice_of},
    {"range", range_of},
    {"ellipsis", [](const Json&) { return Value(Ellipsis); }}};

// An object of one field, which names the kind.
Value named_of(const std::string& name, const Json& json) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return kind.read(json);
  throw UserError("a program's text: a value of kind " + name);
}

}  // namespace

Json dims_json(const Dims& dims) {
  return std::vector<int64_t>(dims.begin(), dims.end());
}

Dims dims_of(const Json& json) {
  return Dims(std::span<const int64_t>(json.get<std::vector<int64_t>>()));
}

Json number_json(double number) {
  if (std::isfinite(number)) return number;
  return {{"bits", std::bit_cast<uint64_t>(number)}};
}

double number_of(const Json& json) {
  return json.is_object()
             ? std::bit_cast<double>(json.at("bits").get<uint64_t>())
             : json.get<double>();
}

Json value_json(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::none:
      return nullptr;
    case Value::Kind::boolean:
      return value.as_bool();
    case Value::Kind::integer:
      return value.as_int();
    case Value::Kind::floating:
      return {{"float", number_json(value.as_double())}};
    case Value::Kind::dtype:
      return {{"dtype", word_of(value.as_dtype())}};
    case Value::Kind::ellipsis:
      return {{"ellipsis", nullptr}};
    case Value::Kind::string:
      return std::string(value.as_string());
    case Value::Kind::slice: {
      const auto [start, stop, step] = value.as_slice();
      return {{"slice", list_json({start, stop, step})}};
    }
    case Value::Kind::range: {
      const auto [start, stop, step] = value.as_range();
      return {{"range", Json::array({start, stop, step})}};
    }
    case Value::Kind::tensor:
      return {{"tensor", tensor_json(value.as_tensor())}};
    case Value::Kind::list:
      return list_json(value.as_sequence());
    case Value::Kind::tuple:
      return {{"tuple", list_json(value.as_sequence())}};
    case Value::Kind::dict:
      return {{"dict", dict_json(value.as_dict())}};
    case Value::Kind::node:
    case Value::Kind::proxy:
    case Value::Kind::opaque:
      break;
  }
  throw NotImplementedError("a program's text has no " +
                            std::string(value.kind_name()));
}

Value value_of(const Json& json) {
  if (json.is_null()) return None;
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array()) return Value::list(list_of(json));
  if (json.is_object() && json.size() == 1)
    return named_of(json.begin().key(), json.begin().value());
  throw UserError("a program's text: expected a value, got " + json.dump());
}

}  // namespace fxjit::program::text
