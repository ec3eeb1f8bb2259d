#include "fxjit/functions_pointwise.h"

#include "src/ops/functions/call.h"

namespace fxjit {

using functions::call;
using functions::call_typed;
using functions::call_with;

Value add(const Arg& input, const Arg& other, const Arg& alpha) {
  return call_with("torch.add", {input, other}, {{"alpha", alpha}});
}
Value sub(const Arg& input, const Arg& other, const Arg& alpha) {
  return call_with("torch.sub", {input, other}, {{"alpha", alpha}});
}
Value div(const Arg& input, const Arg& other, const Arg& rounding_mode) {
  return call_with("torch.div", {input, other},
                   {{"rounding_mode", rounding_mode}});
}
Value addcmul(const Arg& input, const Arg& tensor1, const Arg& tensor2,
              const Arg& value) {
  return call_with("torch.addcmul", {input, tensor1, tensor2},
                   {{"value", value}});
}
Value addcdiv(const Arg& input, const Arg& tensor1, const Arg& tensor2,
              const Arg& value) {
  return call_with("torch.addcdiv", {input, tensor1, tensor2},
                   {{"value", value}});
}
Value full_like(const Arg& input, const Arg& fill_value, const Arg& dtype) {
  return call_typed("torch.full_like", {input, fill_value}, dtype);
}
Value zeros_like(const Arg& input, const Arg& dtype) {
  return call_typed("torch.zeros_like", {input}, dtype);
}
Value ones_like(const Arg& input, const Arg& dtype) {
  return call_typed("torch.ones_like", {input}, dtype);
}

}  // namespace fxjit
