#include "fxjit/nn/layer.h"

#include "fxjit/functions.h"

namespace fxjit::nn {

FunctionLayer::FunctionLayer(std::string type_name, const char* function)
    : LeafModule(std::move(type_name), Signature{"input"}),
      function_(function) {}

Value FunctionLayer::forward(Value input) {
  return function(function_, {std::move(input)});
}

}  // namespace fxjit::nn
