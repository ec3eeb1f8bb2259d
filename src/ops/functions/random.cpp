#include "fxjit/functions_random.h"

#include "src/ops/functions/call.h"

namespace fxjit {

Value rand(const Arg& size, const Arg& dtype) {
  return functions::call_with("torch.rand", {size}, "dtype", dtype);
}
Value randn(const Arg& size, const Arg& dtype) {
  return functions::call_with("torch.randn", {size}, "dtype", dtype);
}
Value rand_like(const Arg& input, const Arg& dtype) {
  return functions::call_with("torch.rand_like", {input}, "dtype", dtype);
}
Value randn_like(const Arg& input, const Arg& dtype) {
  return functions::call_with("torch.randn_like", {input}, "dtype", dtype);
}
Value randint(const Arg& low, const Arg& high, const Arg& size,
              const Arg& dtype) {
  return functions::call_with("torch.randint", {low, high, size}, "dtype",
                              dtype);
}
Value randint_like(const Arg& input, const Arg& low, const Arg& high,
                   const Arg& dtype) {
  return functions::call_with("torch.randint_like", {input, low, high}, "dtype",
                              dtype);
}
Value randperm(const Arg& n, const Arg& dtype) {
  return functions::call_with("torch.randperm", {n}, "dtype", dtype);
}
Value normal(const Arg& mean, const Arg& std, const Arg& size) {
  return functions::call("torch.normal", {mean, std, size});
}
Value bernoulli(const Arg& input, const Arg& p) {
  return functions::call("torch.bernoulli", {input, p});
}
Value multinomial(const Arg& input, const Arg& num_samples,
                  const Arg& replacement) {
  return functions::call("torch.multinomial",
                         {input, num_samples, replacement});
}

}  // namespace fxjit
