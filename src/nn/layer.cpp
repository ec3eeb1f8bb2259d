#include "fxjit/nn/layer.h"

#include "fxjit/functions.h"

namespace fxjit::nn {

FunctionLayer::FunctionLayer(std::string type_name, std::string function,
                             Kwargs settings)
    : LeafModule(std::move(type_name), Signature{"input"}),
      function_(std::move(function)),
      settings_(std::move(settings)) {}

Value FunctionLayer::forward(Value input) {
  ValueList args = {std::move(input)};
  for (const auto& [name, value] : settings_) args.push_back(value);
  return function(function_, std::move(args));
}

std::string FunctionLayer::extra_repr() const {
  std::string text;
  for (const auto& [name, value] : settings_)
    text += (text.empty() ? "" : ", ") + name + (name.empty() ? "" : "=") +
            fxjit::repr(value);
  return text;
}

}  // namespace fxjit::nn
