#include "fxjit/nn/activation.h"

#include "fxjit/functions_structured.h"
#include "fxjit/nn/pointwise.h"
#include "fxjit/op.h"

namespace fxjit::nn {

Value GELU::forward(Value input) {
  return functional::gelu(input, approximate);
}

PReLU::PReLU(LayerArgs given) : TorchLayer(std::move(given)) {
  add("weight", &PReLU::weight,
      Parameter(Tensor::full({num_parameters}, init)));
}

Value PReLU::forward(Value input) {
  return ops::call_function(ops::get_function("torch.prelu"), {input, weight});
}

Dropout::Dropout(LayerArgs given) : TorchLayer(std::move(given)) {
  if (p < 0 || p > 1)
    throw ValueError("dropout probability has to be between 0 and 1, but got " +
                     fxjit::repr(p));
}

Value Dropout::forward(Value input) {
  return functional::dropout(input, p, training());
}

std::string Dropout::extra_repr() const {
  return LayerBase::extra_repr() + ", inplace=False";
}

Value Flatten::forward(Value input) {
  return method(input, "flatten", {start_dim, end_dim});
}

Value Softmin::forward(Value input) { return softmax(-input, dim); }

}  // namespace fxjit::nn
