#include "fxjit/nn/layer.h"

#include <algorithm>

#include "fxjit/functions.h"
#include "src/ops/python/items.h"

namespace fxjit::nn {
namespace {

// "x mask=None" as {"x", {"mask", None}}.
Signature signature_of(std::string_view inputs) {
  std::vector<ArgSpec> args;
  while (!inputs.empty()) {
    const std::string_view input = inputs.substr(0, inputs.find(' '));
    inputs.remove_prefix(std::min(input.size() + 1, inputs.size()));
    const size_t equals = input.find('=');
    args.emplace_back(std::string(input.substr(0, equals)));
    if (equals == input.npos) continue;
    const std::string_view given = input.substr(equals + 1);
    args.back().default_value = given == "None" ? Value() : given == "True";
  }
  return Signature(std::move(args));
}

}  // namespace

LayerBase::LayerBase(const LayerClass& layer, LayerArgs given)
    : LeafModule(layer.name, signature_of(layer.inputs)),
      given_(std::move(given)) {}

LayerBase::LayerBase(std::string type_name, const Kwargs& arguments)
    : LeafModule(std::move(type_name), {"input"}) {
  for (const auto& [name, value] : arguments)
    fields_.push_back({name, value, name.empty() ? Shown::bare : Shown::named});
}

LayerBase::LayerBase(const LayerBase&) = default;
LayerBase::~LayerBase() = default;

LayerBase::Field& LayerBase::next(const char* name, Shown shown) {
  Value value = given_.named_ ? given_.named_->value(name)
                              : std::move(given_.in_order_.at(given_.taken_++));
  fields_.push_back({name, std::move(value), shown});
  return fields_.back();
}

Argument LayerBase::field(const char* name, Shown shown) {
  return {type_name(), name, next(name, shown).value};
}

bool LayerBase::presence(const char* name, const char* tensor) {
  const bool present = field(name);
  fields_.back().of = Field::Of::presence;
  fields_.back().tensor = tensor;
  return present;
}

void LayerBase::print_presence(const char* tensor) {
  fields_.push_back(
      {tensor, None, Shown::named, Field::Of::printed_presence, tensor});
}

Tensor LayerBase::tensor_field(const char* name) {
  Field& field = next(name, Shown::hidden);
  field.of = Field::Of::sizes;
  field.tensor = name;
  const Value given = std::exchange(field.value, None);
  if (given.is_tensor()) return given.as_tensor();
  if (given.is_none()) return {};
  field.value = given;
  const Dims sizes = Argument{type_name(), name, field.value};
  return Tensor::zeros(sizes);
}

std::vector<std::pair<std::string, Parameter*>> LayerBase::handles() {
  std::vector<std::pair<std::string, Parameter*>> found;
  for (const auto& [name, handle] : handles_)
    found.emplace_back(
        name, std::visit([this](auto at) -> Parameter* { return &(this->*at); },
                         handle));
  return found;
}

Value LayerBase::value_of(const Field& field) const {
  if (field.of == Field::Of::value) return field.value;
  for (const auto& [name, handle] : const_cast<LayerBase*>(this)->handles()) {
    if (name != field.tensor) continue;
    if (field.of != Field::Of::sizes) return handle->defined();
    if (handle->defined()) return ops::python::size_tuple(handle->sizes());
  }
  return None;
}

Kwargs LayerBase::arguments() const {
  Kwargs arguments;
  for (const Field& field : fields_)
    if (field.of != Field::Of::printed_presence)
      arguments.emplace_back(field.name, value_of(field));
  return arguments;
}

std::string LayerBase::extra_repr() const {
  std::string text;
  for (const Field& field : fields_) {
    const Value value = value_of(field);
    if (field.shown == Shown::hidden ||
        (field.shown == Shown::unless_none && value.is_none()))
      continue;
    if (!text.empty()) text += ", ";
    if (field.shown != Shown::bare) text += field.name + "=";
    text += fxjit::repr(value);
  }
  return text;
}

FunctionLayer::FunctionLayer(const LayerClass& layer, LayerArgs given)
    : LayerBase(layer, std::move(given)), function_(layer.function) {}

FunctionLayer::FunctionLayer(std::string type_name, std::string function,
                             const Kwargs& settings)
    : LayerBase(std::move(type_name), settings),
      function_(std::move(function)) {}

Value FunctionLayer::forward(Value input) { return run({std::move(input)}); }

Value FunctionLayer::run(ValueList inputs) const {
  for (auto& [name, value] : arguments()) inputs.push_back(value);
  return function(function_, std::move(inputs));
}

}  // namespace fxjit::nn
