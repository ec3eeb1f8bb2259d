#include "fxjit/nn/losses.h"

#include "fxjit/functions.h"

namespace fxjit::nn {

Value LossBase::forward(Value input, Value target) {
  return run({std::move(input), std::move(target)});
}

Value LossBase::run(const ValueList& inputs) const {
  Kwargs kwargs = arguments();
  for (const std::string& name : weights_) {
    std::erase_if(kwargs,
                  [&](const auto& entry) { return entry.first == name; });
    kwargs.emplace_back(name, param(name));
  }
  return function(function_, inputs, std::move(kwargs));
}

Buffer LossBase::add_weight(const char* name) {
  weights_.emplace_back(name);
  const Tensor tensor = tensor_field(name);
  return register_buffer(name, tensor.defined() ? Buffer(tensor) : Buffer());
}

}  // namespace fxjit::nn
