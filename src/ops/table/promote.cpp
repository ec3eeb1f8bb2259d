#include "src/ops/table/promote.h"

#include "src/ops/families/shared/structured.h"
#include "src/ops/table/op_call.h"
#include "src/tensor/visit.h"

namespace fxjit::ops {
namespace {

void widen(std::optional<DType>& type, DType other) {
  type = type ? promote_types(*type, other) : other;
}

std::optional<DType> combine(std::optional<DType> higher,
                             std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || is_complex(*higher)) return higher;
  if (is_floating(*higher))
    return is_complex(*lower) ? promote_types(*higher, DType::c64) : *higher;
  if (*higher == DType::boolean || is_floating(*lower) || is_complex(*lower))
    return promote_types(*higher, *lower);
  return higher;
}

// torch's texts, which name its kernels.
void refuse_floats(const OpCall& call, DType type) {
  if (!is_floating(type)) return;
  std::string kernel(call.op.name());
  if (kernel.ends_with('_')) kernel.pop_back();
  if (kernel == "bitwise_not")
    throw TypeError(
        "~ (operator.invert) is only implemented on integer and Boolean-type "
        "tensors");
  if (kernel == "bitwise_left_shift") kernel = "lshift";
  if (kernel == "bitwise_right_shift") kernel = "rshift";
  no_kernel(kernel + "_cpu", type);
}

}  // namespace

void Promotion::add(const Tensor& tensor) {
  widen(tensor.dim() > 0 ? dimensioned_ : zero_dim_, tensor.dtype());
}

void Promotion::add(const Value& value) {
  if (value.is_tensor()) add(value.as_tensor());
  if (value.is_bool()) widen(number_, DType::boolean);
  if (value.is_int()) widen(number_, DType::i64);
  if (value.is_float()) widen(number_, DType::f32);
}

std::optional<DType> Promotion::result() const {
  return combine(dimensioned_, combine(zero_dim_, number_));
}

ScalarTyping scalar_typing(const OpCall& call) {
  return scalar_typing(call, call.op.row.scalar_types);
}

ScalarTyping scalar_typing(const OpCall& call, ScalarTypes types) {
  ScalarTyping typing;
  Promotion promotion;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const Value& arg = call.args[i];
    const Parameter& parameter = call.op.parameters[i];
    if (arg.is_tensor())
      typing.sizes = broadcast_shapes(typing.sizes, arg.as_tensor().sizes());
    if (arg.is_tensor() || !parameter.default_value.is_number())
      promotion.add(arg);
  }
  const std::optional<DType> promoted = promotion.result();
  FXJIT_CHECK(promoted, call_prefix(call) + "no tensor argument");
  typing.inputs = typing.result = *promoted;
  switch (types) {
    case ScalarTypes::promote:
    case ScalarTypes::custom:
      break;
    case ScalarTypes::promote_float:
      if (!is_floating(*promoted)) typing.inputs = typing.result = DType::f32;
      break;
    case ScalarTypes::compare:
      typing.result = DType::boolean;
      break;
    case ScalarTypes::logical:
      typing.inputs = typing.result = DType::boolean;
      break;
    case ScalarTypes::bitwise:
      refuse_floats(call, *promoted);
      break;
  }
  return typing;
}

Value infer_scalar(const OpCall& call) {
  return infer_scalar(call, scalar_typing(call));
}

Value infer_scalar(const OpCall& call, const ScalarTyping& typing) {
  if (!writes_input(call)) return Tensor::meta(typing.sizes, typing.result);
  const Tensor& self = call.tensor(0);
  if (!(self.sizes() == typing.sizes))
    output_mismatch(self.sizes(), typing.sizes);
  const auto category = [](DType type) {
    return is_floating(type) ? 2 : is_integral(type) ? 1 : 0;
  };
  if (category(typing.result) > category(self.dtype()))
    runtime_error("result type ", torch_type_name(typing.result),
                  " can't be cast to the desired output type ",
                  torch_type_name(self.dtype()));
  return self;
}

}  // namespace fxjit::ops
