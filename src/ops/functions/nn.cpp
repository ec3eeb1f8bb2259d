#include "fxjit/functions_pointwise.h"

#include "src/ops/functions/call.h"

namespace fxjit::nn::functional {

using functions::call;
using functions::call_with;

Value relu(const Arg& input, bool inplace) {
  return call("F.relu", {input, inplace});
}
Value relu6(const Arg& input, bool inplace) {
  return call("F.relu6", {input, inplace});
}
Value elu(const Arg& input, double alpha, bool inplace) {
  return call("F.elu", {input, alpha, inplace});
}
Value selu(const Arg& input, bool inplace) {
  return call("F.selu", {input, inplace});
}
Value celu(const Arg& input, double alpha, bool inplace) {
  return call("F.celu", {input, alpha, inplace});
}
Value threshold(const Arg& input, const Arg& threshold, const Arg& value,
                bool inplace) {
  return call("torch.nn.functional._threshold",
              {input, threshold, value, inplace});
}
Value leaky_relu(const Arg& input, double negative_slope, bool inplace) {
  return call("F.leaky_relu", {input, negative_slope, inplace});
}
Value hardtanh(const Arg& input, double min_val, double max_val, bool inplace) {
  return call("F.hardtanh", {input, min_val, max_val, inplace});
}
Value hardsigmoid(const Arg& input, bool inplace) {
  return call("F.hardsigmoid", {input, inplace});
}
Value hardswish(const Arg& input, bool inplace) {
  return call("F.hardswish", {input, inplace});
}
Value mish(const Arg& input, bool inplace) {
  return call("F.mish", {input, inplace});
}
Value silu(const Arg& input, bool inplace) {
  return call("F.silu", {input, inplace});
}
Value dropout(const Arg& input, double p, bool training, bool inplace) {
  return call("F.dropout", {input, p, training, inplace});
}
Value softsign(const Arg& input) { return call("F.softsign", {input}); }
Value tanhshrink(const Arg& input) { return call("F.tanhshrink", {input}); }
Value gelu(const Arg& input, const Arg& approximate) {
  return call_with("torch._C._nn.gelu", {input},
                   {{"approximate", approximate}});
}
Value softplus(const Arg& input, const Arg& beta, const Arg& threshold) {
  return call("torch._C._nn.softplus", {input, beta, threshold});
}
Value logsigmoid(const Arg& input) {
  return call("torch._C._nn.log_sigmoid", {input});
}
Value hardshrink(const Arg& input, const Arg& lambd) {
  return call("torch.hardshrink", {input, lambd});
}
Value softshrink(const Arg& input, const Arg& lambd) {
  return call("torch._C._nn.softshrink", {input, lambd});
}
Value prelu(const Arg& input, const Arg& weight) {
  return call("torch.prelu", {input, weight});
}
Value sigmoid(const Arg& input) { return method(input, "sigmoid"); }
Value tanh(const Arg& input) { return method(input, "tanh"); }

}  // namespace fxjit::nn::functional
