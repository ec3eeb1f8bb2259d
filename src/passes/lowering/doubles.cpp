// Products of doubles are left whole, as matrix products that the routine for
// doubles takes: see kernels/products/double_product.h.
#include "src/ops/table/op_facts.h"
#include "src/passes/fusing/loop_facts.h"
#include "src/passes/lowering/internal_ops.h"
#include "src/passes/lowering/lower.h"
#include "src/passes/lowering/lowerings.h"

namespace fxjit::passes {
namespace {

// Rows, or batches, that do not step evenly are copied. `kept`: trailing dims
// that are not one of these.
Value even(GraphBuilder& b, const Value& factor, int kept) {
  const Tensor t = val_of(factor);
  const int last = t.dim() - kept;
  return t.dim() < 3 || uniform_stride(t.sizes(), t.strides(), 0, last) >= 0
             ? factor
             : b.call(materialize_op(), {factor});
}

struct Factors {
  Value lhs, rhs;
};

// Two matrices, any batch by a matrix, or equal batches.
Factors fitted(GraphBuilder& b, Factors factors) {
  auto& [lhs, rhs] = factors;
  const bool by_matrix = val_of(rhs).dim() == 2;
  if (!by_matrix) {
    const Dims batch = broadcast_shapes(leading_of(lhs), leading_of(rhs));
    lhs = expand_leading(b, lhs, batch);
    rhs = expand_leading(b, rhs, batch);
  }
  const int kept = by_matrix ? 1 : 2;
  return {even(b, lhs, kept), even(b, rhs, kept)};
}

bool is_same(const Value& a, const Value& b) {
  return GraphBuilder::node_of(a) == GraphBuilder::node_of(b);
}

// Vectors as matrices of one row or column.
Value vectors_product(GraphBuilder& b, Value lhs, Value rhs) {
  const bool row = val_of(lhs).dim() == 1, column = val_of(rhs).dim() == 1;
  if (row) lhs = call(b, "unsqueeze", {lhs, 0});
  if (column) rhs = call(b, "unsqueeze", {rhs, 1});
  Value result = call(b, "matmul", {lhs, rhs});
  if (column) result = call(b, "squeeze", {result, -1});
  return row ? call(b, "squeeze", {result, column ? -1 : -2}) : result;
}

}  // namespace

Value lower_doubles(GraphBuilder& b, const ops::Op& op, const ValueList& args) {
  const ops::ProductRoles& roles = ops::facts_of(op).product;
  const auto left = static_cast<size_t>(roles.left);
  const auto right = static_cast<size_t>(roles.right);
  const Value &lhs = args[left], &rhs = args[right];
  const bool of_vectors = val_of(lhs).dim() == 1 || val_of(rhs).dim() == 1;
  if (of_vectors)
    return roles.right_by_column ? Value() : vectors_product(b, lhs, rhs);
  const Factors wanted = fitted(b, {lhs, rhs});
  if (is_same(wanted.lhs, lhs) && is_same(wanted.rhs, rhs)) return {};
  ValueList changed = args;
  changed[left] = wanted.lhs, changed[right] = wanted.rhs;
  return b.call(op, changed);
}

}  // namespace fxjit::passes
