#include "src/passes/patterns/blocked_weights.h"

#include <algorithm>
#include <cmath>

#include "src/ops/table/op_facts.h"

namespace fxjit::passes {
namespace {

bool is_constant(const fx::Node* node) {
  return node && node->is(fx::Opcode::get_attr) && node->val().is_tensor();
}

bool is_byte(DType dtype) { return dtype == DType::u8 || dtype == DType::i8; }

// Whole numbers of the codes' type.
bool fits_codes(const Tensor& zeros, DType codes) {
  if (is_byte(zeros.dtype())) return true;
  if (zeros.is_meta() || zeros.dtype() != DType::f32) return false;
  const Tensor dense = zeros.contiguous();
  const float* const numbers = dense.data_as<float>();
  const float low = codes == DType::u8 ? 0 : -128, high = low + 255;
  return std::all_of(numbers, numbers + dense.numel(), [&](float x) {
    return x >= low && x <= high && x == std::trunc(x);
  });
}

// A parameter as [blocks, columns], of bytes where it is a zero point.
Value of_blocks(CallWriter& write, fx::NodePtr parameter,
                const BlockedWeight& weight, bool is_zero) {
  Value made = parameter;
  const Tensor& val = parameter->val_tensor();
  if (is_zero && !is_byte(val.dtype()))
    made = write.call("cast", {made, weight.codes->val_tensor().dtype()});
  if (val.numel() == 1)
    return write.call("reshape", {made, Value::list({1, 1})});
  const int outer = 0, inner = weight.by_column ? 1 : 2;
  made = write.call("reshape",
                    {made, Value::list({val.size(outer), val.size(inner)})});
  return weight.by_column ? Value(write.call("transpose", {made, 0, 1})) : made;
}

}  // namespace

std::optional<BlockedWeight> blocked_weight(const ModelGraph& model,
                                            fx::NodePtr node, bool by_column) {
  const ops::Op* const op = node->called_op();
  if (!op || node->val_tensor().dim() != 2 ||
      (op->row.lowering != ops::Lowering::view &&
       op->row.lowering != ops::Lowering::reshape))
    return std::nullopt;
  const auto whole = quantised(node->arg_node(0));
  if (!whole || !is_constant(whole->input)) return std::nullopt;
  BlockedWeight weight{whole->input, whole->scale.as_node(), nullptr, 0,
                       by_column};
  if (!whole->zero.is_none()) weight.zero = whole->zero.as_node();
  const Dims sizes = weight.codes->val_tensor().sizes();
  if (sizes.size() != 3) return std::nullopt;
  Dims parameters = sizes;
  parameters[by_column ? 2 : 1] = 1;
  weight.block = sizes[by_column ? 2 : 1];
  const Dims matrix = by_column ? Dims{sizes[0], sizes[1] * sizes[2]}
                                : Dims{sizes[0] * sizes[1], sizes[2]};
  const bool fits =
      node->val_tensor().sizes() == matrix && is_constant(weight.scale) &&
      weight.scale->val_tensor().sizes() == parameters && sizes[0] > 0 &&
      weight.block > 1 && weight.codes->val_tensor().is_contiguous();
  if (!fits) return std::nullopt;
  if (weight.zero && !(is_constant(weight.zero) &&
                       (weight.zero->val_tensor().numel() == 1 ||
                        weight.zero->val_tensor().sizes() == parameters) &&
                       fits_codes(model.constant(*weight.zero),
                                  weight.codes->val_tensor().dtype())))
    return std::nullopt;
  return weight;
}

fx::NodePtr written_product(CallWriter& write, fx::NodePtr input,
                            const BlockedWeight& weight) {
  const Dims sizes = weight.codes->val_tensor().sizes();
  const ValueList matrix =
      weight.by_column ? ValueList{Value(sizes[0]), Value(sizes[1] * sizes[2])}
                       : ValueList{Value(sizes[0] * sizes[1]), Value(sizes[2])};
  return write.call(
      "fxjit.blocked_product",
      {input, write.call("reshape", {weight.codes, Value::list(matrix)}),
       of_blocks(write, weight.scale, weight, false),
       weight.zero ? of_blocks(write, weight.zero, weight, true) : Value(),
       weight.block, 8, weight.by_column});
}

}  // namespace fxjit::passes
