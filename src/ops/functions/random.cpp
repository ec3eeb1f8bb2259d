#include "fxjit/functions_random.h"

#include "src/ops/functions/call.h"

namespace fxjit {

using functions::call;
using functions::call_typed;

Value rand(const Arg& size, const Arg& dtype) {
  return call_typed("torch.rand", {size}, dtype);
}
Value randn(const Arg& size, const Arg& dtype) {
  return call_typed("torch.randn", {size}, dtype);
}
Value rand_like(const Arg& input, const Arg& dtype) {
  return call_typed("torch.rand_like", {input}, dtype);
}
Value randn_like(const Arg& input, const Arg& dtype) {
  return call_typed("torch.randn_like", {input}, dtype);
}
Value randint(const Arg& low, const Arg& high, const Arg& size,
              const Arg& dtype) {
  return call_typed("torch.randint", {low, high, size}, dtype);
}
Value randint_like(const Arg& input, const Arg& low, const Arg& high,
                   const Arg& dtype) {
  return call_typed("torch.randint_like", {input, low, high}, dtype);
}
Value randperm(const Arg& n, const Arg& dtype) {
  return call_typed("torch.randperm", {n}, dtype);
}
Value normal(const Arg& mean, const Arg& std, const Arg& size) {
  return call("torch.normal", {mean, std, size});
}
Value bernoulli(const Arg& input, const Arg& p) {
  return call("torch.bernoulli", {input, p});
}
Value multinomial(const Arg& input, const Arg& num_samples,
                  const Arg& replacement) {
  return call("torch.multinomial", {input, num_samples, replacement});
}

}  // namespace fxjit
