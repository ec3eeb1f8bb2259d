// Products of f32, and of what is computed in f32, become contractions.
#include "src/ops/table/op_facts.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/integers.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

bool uniform(const Tensor& t, int first, int last) {
  return uniform_stride(t.sizes(), t.strides(), first, last) >= 0;
}

}  // namespace

Value addressable(GraphBuilder& b, const Value& input, int batch_dims) {
  const Tensor t = val_of(input);
  const int last = t.dim() - 1;
  const bool contiguous_depth = t.sizes()[last] <= 1 || t.strides()[last] == 1;
  if (contiguous_depth && uniform(t, 0, batch_dims) &&
      uniform(t, batch_dims, last))
    return input;
  return b.call(materialize_op(), {input});
}

namespace {

Value contract(GraphBuilder& b, const Value& input, ValueList weights,
               int batch_dims) {
  return b.call(contract_op(), {addressable(b, input, batch_dims),
                                Value::list(std::move(weights))});
}

Value transpose_last(GraphBuilder& b, const Value& x) {
  return call(b, "transpose", {x, -2, -1});
}

Value matmul(GraphBuilder& b, Value lhs, Value rhs);

Value linear(GraphBuilder& b, const Value& input, const Value& weights,
             const Value& biases) {
  // A weight may be one row, given as a vector.
  if (const Value& weight = weights.at(0); val_of(weight).dim() == 1) {
    const Value result = matmul(b, input, weight);
    return biases.is_none() ? result : call(b, "add", {result, biases.at(0)});
  }
  if (weights.as_sequence().size() == 1) {
    const Value bias = biases.is_none() ? biases : biases.at(0);
    const Value sum = lower_plane_sums(b, input, weights.at(0), bias);
    if (!sum.is_none()) return sum;
  }
  ValueList transposed;
  for (const Value& weight : weights.as_sequence())
    transposed.push_back(transpose_last(b, weight));
  const bool vector = val_of(input).dim() == 1;
  const Value rows = vector ? call(b, "unsqueeze", {input, 0}) : input;
  Value result = contract(b, rows, std::move(transposed), 0);
  if (vector) result = call(b, "squeeze", {result, 0});
  if (biases.is_none()) return result;
  const ValueList& parts = biases.as_sequence();
  const Value bias =
      parts.size() == 1 ? parts[0] : call(b, "cat", {Value::list(parts), 0});
  return call(b, "add", {result, bias});
}

// Products of a single row or column with what only the call knows: each number
// is used once, so that packing it for tiles would be most of the work.
Value vector_product(GraphBuilder& b, const Value& lhs, const Value& rhs) {
  const Tensor x = val_of(lhs), y = val_of(rhs);
  const bool row = x.size(-2) == 1;
  const bool depth_together = row ? y.stride(-2) == 1 && y.stride(-1) != 1
                                  : x.stride(-1) == 1 || x.stride(-2) != 1;
  if (depth_together || (row && y.size(-1) == 1)) {  // Sums along rows.
    const Value total =
        call(b, "sum", {call(b, "mul", {lhs, transpose_last(b, rhs)}), -1});
    return call(b, "unsqueeze", {total, row ? -2 : -1});
  }
  const Value factors = call(b, "mul", {transpose_last(b, lhs), rhs});
  return call(b, "unsqueeze", {call(b, "sum", {factors, -2}), row ? -2 : -1});
}

Value matmul(GraphBuilder& b, Value lhs, Value rhs) {
  const bool row = val_of(lhs).dim() == 1;
  const bool column = val_of(rhs).dim() == 1;
  if (row) lhs = call(b, "unsqueeze", {lhs, 0});
  if (column) rhs = call(b, "unsqueeze", {rhs, 1});
  Value result;
  if (val_of(lhs).size(-1) == 1 && !b.is_constant(rhs)) {
    result = call(b, "mul", {lhs, rhs});  // Outer products sum nothing.
  } else if ((val_of(lhs).size(-2) == 1 || val_of(rhs).size(-1) == 1) &&
             !b.is_constant(rhs)) {
    result = vector_product(b, lhs, rhs);
  } else if (val_of(rhs).dim() == 2) {
    result = contract(b, lhs, {rhs}, 0);
  } else {
    const Dims batch = broadcast_shapes(leading_of(lhs), leading_of(rhs));
    lhs = expand_leading(b, lhs, batch);
    rhs = expand_leading(b, rhs, batch);
    if (!uniform(val_of(rhs), 0, batch.size()))
      rhs = b.call(materialize_op(), {rhs});
    result = contract(b, lhs, {rhs}, batch.size());
  }
  if (column) result = call(b, "squeeze", {result, -1});
  if (row) result = call(b, "squeeze", {result, column ? -1 : -2});
  return result;
}

// beta * input + alpha * product.
Value add_scaled(GraphBuilder& b, const Value& input, const Value& product,
                 const Value& beta, const Value& alpha) {
  Value scaled = product;
  if (alpha.as_double() != 1) scaled = call(b, "mul", {scaled, alpha});
  if (beta.as_double() == 0) return scaled;
  const Value base =
      beta.as_double() == 1 ? input : call(b, "mul", {input, beta});
  return call(b, "add", {scaled, base});
}

size_t right_factor(const ops::Op& op) {
  return static_cast<size_t>(ops::facts_of(op).product.right);
}

bool is_constant_matrix(const GraphBuilder& b, const Value& factor) {
  return b.is_constant(factor) && val_of(factor).dim() == 2;
}

// A product of half types that is left to a kernel of its own.
bool is_kept(const GraphBuilder& b, const ops::Op& op, const ValueList& args,
             DType half) {
  if (!b.options().lowering->halves.has(half) ||
      !is_constant_matrix(b, args[right_factor(op)]))
    return false;
  bool contiguous = true;
  for (const Value& arg : args)
    if (arg.is_proxy() && !is_constant_matrix(b, arg))
      contiguous = contiguous && val_of(arg).is_contiguous();
  return contiguous;
}

// Half types as f32; a constant matrix is read as it is when it is packed.
ValueList widened(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  ValueList wide = args;
  for (size_t i = 0; i < args.size(); ++i)
    if (args[i].is_proxy() &&
        !(i == right_factor(op) && is_constant_matrix(b, args[i])))
      wide[i] = call(b, "cast", {args[i], DType::f32});
  return wide;
}

Value as_list(const Value& value) {
  return value.is_none() || value.is_sequence() ? value : Value::list({value});
}

Value lower_product(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  const ops::ProductRoles& roles = ops::facts_of(op).product;
  const auto arg = [&](int at, const Value& otherwise) {
    return at < 0 ? otherwise : args[static_cast<size_t>(at)];
  };
  const Value left = arg(roles.left, {}), right = arg(roles.right, {});
  const Value added = arg(roles.added, {});
  if (roles.right_by_column)
    return linear(b, left, as_list(right), as_list(added));
  const Value product = matmul(b, left, right);
  if (added.is_none()) return product;
  return add_scaled(b, added, product, arg(roles.beta, 1.0),
                    arg(roles.alpha, 1.0));
}

// A product of matrices of small integers, which wraps as their type does.
Value lower_short_product(GraphBuilder& b, const ops::Op& op,
                          const ValueList& args) {
  const ops::ProductRoles& roles = ops::facts_of(op).product;
  const bool plain =
      roles.left >= 0 && roles.right >= 0 &&
      (roles.added < 0 || args[static_cast<size_t>(roles.added)].is_none());
  if (!plain) return {};
  const Value x = args[static_cast<size_t>(roles.left)];
  Value w = args[static_cast<size_t>(roles.right)];
  if (!w.is_proxy() || val_of(x).dim() < 2 || val_of(w).dim() < 2 ||
      val_of(x).size(-1) == 0)
    return {};
  if (roles.right_by_column) w = transpose_last(b, w);
  const auto wide = [&](const Value& factor) {
    return call(b, "cast", {factor, DType::i16});
  };
  return call(b, "cast", {short_sums(b, wide(x), wide(w)), val_of(x).dtype()});
}

}  // namespace

Value lower_contraction(GraphBuilder& b, const ops::Op& op,
                        const ValueList& args) {
  if (all_of_type(args, DType::f32)) return lower_product(b, op, args);
  for (DType half : {DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2})
    if (all_of_type(args, half) && !is_kept(b, op, args, half)) {
      const Value wide = lower_product(b, op, widened(b, op, args));
      return call(b, "cast", {wide, half});
    }
  for (const DType dtype : {DType::u8, DType::i8, DType::i16})
    if (all_of_type(args, dtype)) return lower_short_product(b, op, args);
  return all_of_type(args, DType::f64) ? lower_doubles(b, op, args) : Value();
}

}  // namespace fxjit::passes
