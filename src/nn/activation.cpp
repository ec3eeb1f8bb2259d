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

LeakyReLU::LeakyReLU(double negative_slope)
    : Custom("LeakyReLU", {"input"}), negative_slope(negative_slope) {}
Value LeakyReLU::forward(Value input) {
  return functional::leaky_relu(input, negative_slope);
}
std::string LeakyReLU::extra_repr() const {
  return "negative_slope=" + py(negative_slope);
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

ELU::ELU(double alpha) : Custom("ELU", {"input"}), alpha(alpha) {}
Value ELU::forward(Value input) { return functional::elu(input, alpha); }
std::string ELU::extra_repr() const { return "alpha=" + py(alpha); }

GLU::GLU(int64_t dim) : Custom("GLU", {"input"}), dim(dim) {}
Value GLU::forward(Value input) { return functional::glu(input, dim); }
std::string GLU::extra_repr() const { return "dim=" + py(dim); }

Softplus::Softplus(double beta, double threshold)
    : Custom("Softplus", {"input"}), beta(beta), threshold(threshold) {}
Value Softplus::forward(Value input) {
  return functional::softplus(input, beta, threshold);
}
std::string Softplus::extra_repr() const {
  return "beta=" + py(beta) + ", threshold=" + py(threshold);
}

Hardtanh::Hardtanh(double min_val, double max_val)
    : Custom("Hardtanh", {"input"}), min_val(min_val), max_val(max_val) {}
Value Hardtanh::forward(Value input) {
  return functional::hardtanh(input, min_val, max_val);
}
std::string Hardtanh::extra_repr() const {
  return "min_val=" + py(min_val) + ", max_val=" + py(max_val);
}

Softmax::Softmax(int64_t dim) : Custom("Softmax", {"input"}), dim(dim) {}
Value Softmax::forward(Value input) { return functional::softmax(input, dim); }
std::string Softmax::extra_repr() const { return "dim=" + py(dim); }

LogSoftmax::LogSoftmax(int64_t dim)
    : Custom("LogSoftmax", {"input"}), dim(dim) {}
Value LogSoftmax::forward(Value input) {
  return functional::log_softmax(input, dim);
}
std::string LogSoftmax::extra_repr() const { return "dim=" + py(dim); }

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
