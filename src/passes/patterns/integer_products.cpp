// Products of dequantised tensors become products of their integers:
//
//   matmul(dequantize(x, s, p),             cast(integer_matmul(x, w, p, q),
//          dequantize(w, t, q))     ==>          f32) * (s * t)
//
// and convolutions by constant filters those of theirs. Constant matrices stay
// integers in products of floats as well:
//
//   matmul(x, dequantize(w, t, q))   ==>   weight_product(x, w, q) * t
//   matmul(x, view(dequantize(blocks of w, t, q)))
//                                    ==>   blocked_product(x, w, t, q)
//
// Otherwise not where a scale or zero point differs along the depth, nor of few
// rows or columns by what is not constant. Linear layers and addmm are products
// of this kind and an addition.
#include <algorithm>
#include <array>
#include <optional>

#include "src/ops/eager/convolution.h"
#include "src/ops/table/op_facts.h"
#include "src/passes/patterns.h"
#include "src/passes/patterns/blocked_weights.h"
#include "src/passes/patterns/quantised.h"

namespace fxjit::passes {
namespace {

// Whether the node swaps the dims of a matrix.
bool is_transposed(const fx::Node& node) {
  const ops::Op* const op = node.called_op();
  if (!op || op->row.lowering != ops::Lowering::view || !node.arg_node(0))
    return false;
  const Tensor &to = node.val_tensor(), &from = node.arg_node(0)->val_tensor();
  return to.dim() == 2 && from.dim() == 2 && to.size(0) == from.size(1) &&
         to.size(1) == from.size(0) && to.stride(0) == from.stride(1) &&
         to.stride(1) == from.stride(0);
}

// Whether a product by what only the call knows has so many sums that packing
// both factors anew is little beside them.
bool is_worth_packing(const Tensor& left, const Tensor& right) {
  constexpr int64_t kLeast = 16;
  return right.dim() >= 2 && left.size(-2) >= kLeast &&
         left.size(-1) >= kLeast && right.size(-1) >= kLeast;
}

struct IntegerProduct {
  fx::NodePtr real = nullptr;     // The left factor, of floats ...
  std::optional<Quantised> left;  // ... or of integers.
  Quantised right;                // Whose scale may be none.
  bool by_column = false;         // The right matrix is [N, K].
  std::optional<BlockedWeight> blocked;  // In place of `right`.
};

// Whether products of the type are those of f32, rounded once. It holds i8.
bool is_summed_in_floats(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
}

// A constant of i8 as floats.
std::optional<Quantised> widened(fx::NodePtr node) {
  const fx::NodePtr numbers = constant_below_cast(node);
  if (!numbers || !is_summed_in_floats(node->val_tensor().dtype()) ||
      numbers->val_tensor().dtype() != DType::i8)
    return std::nullopt;
  return Quantised{numbers, {}, {}};
}

std::optional<IntegerProduct> integer_product(const ModelGraph& model,
                                              const fx::Node& node) {
  const ops::Op* const op = node.called_op();
  if (!op || op->row.lowering != ops::Lowering::contraction)
    return std::nullopt;
  const ops::ProductRoles& roles = ops::facts_of(*op).product;
  const fx::NodePtr left = node.arg_node(static_cast<size_t>(roles.left));
  fx::NodePtr right = node.arg_node(static_cast<size_t>(roles.right));
  if (!left || !right || left->val_tensor().dim() < 2) return std::nullopt;
  IntegerProduct product;
  product.by_column = roles.right_by_column;
  if (is_transposed(*right)) {
    right = right->arg_node(0);
    product.by_column = !product.by_column;
  }
  if (left->val_tensor().dtype() == DType::f32)
    product.blocked = blocked_weight(model, right, product.by_column);
  if (product.blocked) {
    product.real = left;
    return product;
  }
  auto x = quantised(left), w = quantised(right);
  if (!w) x.reset(), w = widened(right);
  if (x && !x->fits({1})) x.reset();
  if (!w || (!x && !is_summed_in_floats(left->val_tensor().dtype())) ||
      (w->scale.is_none() &&
       left->val_tensor().dtype() != right->val_tensor().dtype()))
    return std::nullopt;
  const Tensor& matrix = w->input->val_tensor();
  if (w->input->is(fx::Opcode::get_attr)) {
    if (matrix.dim() != 2) return std::nullopt;
    const Dims columns =
        product.by_column ? Dims{matrix.size(0), 1} : Dims{1, matrix.size(1)};
    if (!w->fits(columns)) return std::nullopt;
  } else if (!x || product.by_column || !w->fits({1}) ||
             !is_worth_packing(left->val_tensor(), matrix)) {
    return std::nullopt;
  }
  product.real = left, product.left = x, product.right = *w;
  return product;
}

// A parameter of the weight as it broadcasts over the columns of the sums.
Value over_columns(CallWriter& write, const Value& parameter) {
  if (parameter.is_none()) return parameter;
  const int64_t count = parameter.as_node()->val_tensor().numel();
  return write.call("reshape", {parameter, Value::list({count})});
}

Value in_type(CallWriter& write, fx::NodePtr x, DType dtype) {
  if (x->val_tensor().dtype() == dtype) return x;
  return write.call("cast", {x, dtype});
}

// In f32.
fx::NodePtr written(CallWriter& write, const IntegerProduct& product) {
  const auto& [real, x, w, by_column, blocked] = product;
  if (blocked) return written_product(write, real, *blocked);
  const Value matrix = by_column
                           ? Value(write.call("transpose", {w.input, 0, 1}))
                           : Value(w.input);
  const Value zero = over_columns(write, w.zero);
  const Value factor = over_columns(write, w.scale);
  if (!x) {
    const fx::NodePtr sums =
        write.call("fxjit.weight_product",
                   {in_type(write, real, DType::f32), matrix, zero});
    return factor.is_none() ? sums : write.call("mul", {sums, factor});
  }
  const fx::NodePtr sums =
      write.call("fxjit.integer_matmul", {x->input, matrix, x->zero, zero});
  const fx::NodePtr scale = write.call("mul", {x->scale, factor});
  return write.call("mul", {write.call("cast", {sums, DType::f32}), scale});
}

fx::NodePtr rewritten_product(ModelGraph& model, fx::NodePtr node) {
  const auto product = integer_product(model, *node);
  if (!product) return nullptr;
  const ops::ProductRoles& roles = ops::facts_of(*node->called_op()).product;
  const auto is_one = [&](int at) {
    return at < 0 || node->arg(static_cast<size_t>(at)).as_double() == 1;
  };
  if (!is_one(roles.alpha) || !is_one(roles.beta)) return nullptr;
  CallWriter write(*model.graph, node);
  fx::NodePtr made = written(write, *product);
  const DType dtype = node->val_tensor().dtype();
  if (roles.added >= 0)
    if (const Value& added = node->arg(static_cast<size_t>(roles.added));
        !added.is_none())
      made = write.call("add",
                        {made, dtype == DType::f32
                                   ? added
                                   : write.call("cast", {added, DType::f32})});
  return dtype == DType::f32 ? made : write.call("cast", {made, dtype});
}

// A parameter of the filter as it broadcasts over the planes of the result.
Value over_planes(CallWriter& write, const Value& parameter) {
  if (parameter.is_none()) return parameter;
  const int64_t count = parameter.as_node()->val_tensor().numel();
  return write.call("reshape", {parameter, Value::list({count, 1, 1})});
}

bool is_planar(const fx::Node& node) {
  const ops::Op* const op = node.called_op();
  return op && op->row.lowering == ops::Lowering::convolution &&
         node.arg_node(0) && node.arg_node(1) &&
         node.arg_node(0)->val_tensor().dim() == 4 &&
         node.arg_node(1)->val_tensor().dim() == 4;
}

fx::NodePtr rewritten_conv(ModelGraph& model, fx::NodePtr node) {
  if (!is_planar(*node)) return nullptr;
  const auto x = quantised(node->arg_node(0)), w = quantised(node->arg_node(1));
  if (!x || !w || !w->input->is(fx::Opcode::get_attr) || !x->fits({1}))
    return nullptr;
  const ValueList metas = vals_of(node->args());
  const ops::ConvParams params = ops::conv_params({*node->called_op(), metas});
  const Dims features{w->input->val_tensor().size(0), 1, 1, 1};
  if (params.transposed || !w->fits(features)) return nullptr;
  CallWriter write(*model.graph, node);
  const fx::NodePtr sums = write.call(
      "fxjit.integer_conv",
      {x->input, w->input, params.stride, params.pad_before, params.pad_after,
       params.dilation, params.groups, x->zero, w->zero, DType::f32});
  const fx::NodePtr scale =
      write.call("mul", {x->scale, over_planes(write, w->scale)});
  const fx::NodePtr made = write.call("mul", {sums, scale});
  const Value& bias = node->arg(2);
  return bias.is_none() ? made
                        : write.call("add", {made, over_planes(write, bias)});
}

}  // namespace

int integer_products(ModelGraph& model) {
  return rewrite_each(model, [&](fx::NodePtr node) {
    fx::NodePtr made = rewritten_product(model, node);
    if (!made) made = rewritten_conv(model, node);
    if (!made) return false;
    node->replace_all_uses_with(made);
    model.graph->erase_node(node);
    return true;
  });
}

}  // namespace fxjit::passes
