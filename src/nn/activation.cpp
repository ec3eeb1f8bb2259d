#include "fxjit/nn/activation.h"

#include "fxjit/functions_structured.h"
#include "fxjit/op.h"
#include "src/nn/repr_parts.h"

namespace fxjit::nn {

Identity::Identity() : Custom("Identity", {"input"}) {}
Value Identity::forward(Value input) { return input; }

GELU::GELU(std::string approximate)
    : Custom("GELU", {"input"}), approximate(std::move(approximate)) {}
Value GELU::forward(Value input) {
  return functional::gelu(input, approximate);
}
std::string GELU::extra_repr() const {
  return "approximate=" + py(approximate);
}

PReLU::PReLU(int64_t num_parameters, double init)
    : Custom("PReLU", {"input"}), num_parameters(num_parameters), init(init) {
  weight = register_parameter("weight", Tensor::full({num_parameters}, init));
}

Value PReLU::forward(Value input) {
  return ops::call_function(ops::get_function("torch.prelu"), {input, weight});
}

std::string PReLU::extra_repr() const {
  return "num_parameters=" + std::to_string(num_parameters);
}

Dropout::Dropout(double p) : Custom("Dropout", {"input"}), p(p) {
  if (p < 0 || p > 1)
    throw ValueError("dropout probability has to be between 0 and 1, but got " +
                     py(p));
}
Value Dropout::forward(Value input) {
  return functional::dropout(input, p, training());
}
std::string Dropout::extra_repr() const {
  return "p=" + py(p) + ", inplace=False";
}

Flatten::Flatten(int64_t start_dim, int64_t end_dim)
    : Custom("Flatten", {"input"}), start_dim(start_dim), end_dim(end_dim) {}
Value Flatten::forward(Value input) {
  return method(input, "flatten", {start_dim, end_dim});
}
std::string Flatten::extra_repr() const {
  return "start_dim=" + py(start_dim) + ", end_dim=" + py(end_dim);
}

}  // namespace fxjit::nn
