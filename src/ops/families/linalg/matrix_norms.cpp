// Norms of matrices, products of several, powers: what linear algebra makes of
// other ops.
#include <cmath>
#include <limits>

#include "fxjit/functions_structured.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

Value vector_norm(const Value& x, const Value& order, const Value& dim,
                  const Value& keepdim, const Value& dtype) {
  ValueList args{x, order, dim, keepdim};
  Kwargs kwargs;
  if (!dtype.is_none()) kwargs.emplace_back("dtype", dtype);
  return function("torch.linalg.vector_norm", args, kwargs);
}

void check_order_text(std::string_view order) {
  if (order != "fro" && order != "nuc")
    runtime_error("linalg.matrix_norm: Order ", order, " not supported.");
}

[[noreturn]] void refuse_order(double order) {
  std::string text = repr(order);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  runtime_error("linalg.matrix_norm: Order ", text, " not supported.");
}

// Singular values along the last dim, of the matrices in two dims.
Value singular_values_of(const Value& x, int64_t rows, int64_t columns) {
  const Value moved =
      fxjit::movedim(x, Value::tuple({rows, columns}), Value::tuple({-2, -1}));
  return function("torch.linalg.svdvals", {moved});
}

// The reduced dims with length 1 again.
Value kept(Value result, bool keepdim, int64_t a, int64_t b) {
  if (!keepdim) return result;
  result = fxjit::unsqueeze(result, std::min(a, b));
  return fxjit::unsqueeze(result, std::max(a, b));
}

Value spectral(const Value& x, const Value& order, int64_t rows,
               int64_t columns, bool keepdim) {
  const Tensor meta = meta_of(x);
  const bool nuclear = order.is_string();
  if (std::min(meta.sizes()[static_cast<int>(rows)],
               meta.sizes()[static_cast<int>(columns)]) == 0 &&
      !nuclear)
    return fxjit::sum(x, Value::tuple({rows, columns}), keepdim);
  const Value values = singular_values_of(x, rows, columns);
  Value result;
  if (nuclear)
    result = fxjit::sum(values, -1);
  else if (order.as_double() > 0)
    result = fxjit::amax(values, -1);
  else
    result = fxjit::amin(values, -1);
  return kept(result, keepdim, rows, columns);
}

// The greatest or least sum of magnitudes along one of the two dims.
Value extreme_sum(const Value& x, double order, int64_t rows, int64_t columns,
                  bool keepdim) {
  const bool along_rows = std::abs(order) == 1;
  int64_t summed = along_rows ? rows : columns;
  int64_t rest = along_rows ? columns : rows;
  const Tensor meta = meta_of(x);
  if (meta.sizes()[static_cast<int>(rest)] == 0)
    return fxjit::sum(x, Value::tuple({rows, columns}), keepdim);
  const Value sums = fxjit::sum(fxjit::abs(x), summed, true);
  const Value result =
      order > 0 ? fxjit::amax(sums, rest, true) : fxjit::amin(sums, rest, true);
  if (keepdim) return result;
  return fxjit::squeeze(fxjit::squeeze(result, std::max(summed, rest)),
                        std::min(summed, rest));
}

struct MatrixDims {
  int64_t rows = 0, columns = 0;
};

MatrixDims matrix_dims(const Tensor& x, const Value& dim) {
  if (x.dim() < 2)
    runtime_error(
        "linalg.matrix_norm: The input tensor A must have at least 2 "
        "dimensions.");
  const Dims dims = dim.is_none() ? Dims{-2, -1} : dim.as_dims();
  if (dims.size() != 2)
    runtime_error("linalg.matrix_norm: dim must be a 2-tuple. Got ", dims);
  const MatrixDims result{wrap_dim(dims[0], x.dim()),
                          wrap_dim(dims[1], x.dim())};
  if (result.rows == result.columns)
    runtime_error("linalg.matrix_norm: dims must be different. Got (", dims[0],
                  ", ", dims[1], ")");
  return result;
}

Value norm_of_matrices(const Value& input, const Value& order, const Value& dim,
                       bool keepdim, const Value& dtype) {
  const auto [rows, columns] = matrix_dims(meta_of(input), dim);
  const Value x = dtype.is_none() ? input : cast_to(input, dtype.as_dtype());
  if (order.is_string()) check_order_text(order.as_string());
  if (order.is_string() && order.as_string() == "fro")
    return vector_norm(x, 2, Value::tuple({rows, columns}), keepdim, None);
  if (order.is_string()) return spectral(x, order, rows, columns, keepdim);
  const double p = order.as_double(), size = std::abs(p);
  if (size == 2) return spectral(x, order, rows, columns, keepdim);
  if (size != 1 && !std::isinf(size)) refuse_order(p);
  return extreme_sum(x, p, rows, columns, keepdim);
}

Value matrix_norm(const OpCall& call) {
  return norm_of_matrices(call[0], call[1], call[2], call.flag(3), call[4]);
}

// As torch decides: a norm of matrices for two dims, or an order that is text
// or a matrix without dims; else of vectors.
Value linalg_norm(const OpCall& call) {
  const Value &x = call[0], &order = call[1], &dim = call[2];
  const int rank = meta_of(x).dim();
  if (order.is_none()) return vector_norm(x, 2, dim, call[3], call[4]);
  if (dim.is_none() && rank != 1 && rank != 2 && !order.is_string())
    runtime_error(
        "linalg.norm: If dim is not specified but ord is, the input must be 1D "
        "or 2D. Got ",
        rank, "D.");
  const bool two =
      dim.is_none() ? rank == 2 : dim.is_sequence() && dim.size() == 2;
  if (order.is_string() || two)
    return norm_of_matrices(x, order, dim, call.flag(3), call[4]);
  return vector_norm(x, order, dim, call[3], call[4]);
}

void check_power(const Tensor& a) {
  if (a.dim() < 2)
    runtime_error(
        "linalg.matrix_power: The input tensor A must have at least 2 "
        "dimensions.");
  if (a.size(-1) != a.size(-2))
    runtime_error(
        "linalg.matrix_power: A must be batches of square matrices, but they "
        "are ",
        a.size(-2), " by ", a.size(-1), " matrices");
}

// By squaring.
Value matrix_power(const OpCall& call) {
  const Tensor meta = meta_of(call[0]);
  check_power(meta);
  const int64_t exponent = call.integer(1);
  if (exponent == 0)
    return fxjit::zeros_like(call[0]) +
           fxjit::eye(meta.size(-1), None, meta.dtype());
  if (exponent == 1) return fxjit::clone(call[0]);
  Value square =
      exponent > 0 ? call[0] : function("torch.linalg.inv", {call[0]});
  // Unsigned: the least int64 has no positive counterpart.
  auto n = static_cast<uint64_t>(exponent);
  if (exponent < 0) n = -n;
  Value product;
  while (true) {
    if (n % 2 == 1)
      product = product.is_none() ? square : fxjit::matmul(product, square);
    n /= 2;
    if (n == 0) break;
    square = fxjit::matmul(square, square);
  }
  return product;
}

Value product_of_all(const ValueList& matrices) {
  Value product = matrices.front();
  for (size_t i = 1; i < matrices.size(); ++i)
    product = fxjit::matmul(product, matrices[i]);
  return product;
}

Value multi_dot(const OpCall& call) {
  const ValueList& matrices = call[0].as_sequence();
  if (matrices.size() < 2)
    runtime_error("multi_dot(): expected at least 2 tensors but got ",
                  matrices.size());
  return product_of_all(matrices);
}

Value chain_matmul(const OpCall& call) {
  const ValueList& matrices = call[0].as_sequence();
  if (matrices.size() == 1) return fxjit::clone(matrices[0]);
  return product_of_all(matrices);
}

Value vecdot(const OpCall& call) {
  return fxjit::sum(call[0] * call[1], call[2]);
}

Value linalg_diagonal(const OpCall& call) {
  return function("torch.diagonal", {call[0], call[1], call[2], call[3]});
}

// Such powers are copies.
Layout layout_of_matrix_power(const OpCall& call) {
  const int64_t power = call.integer(1);
  return power == 0 || power == 1 ? Layout::plain : Layout::stated;
}

constexpr OpRow kMatrixNormsRows[] = {
    composed_row("linalg_matrix_norm",
                 "input, ord='fro', dim=(-2, -1), keepdim=False, *, dtype=None",
                 "torch._C._linalg.linalg_matrix_norm", matrix_norm),
    composed_row("linalg_norm",
                 "input, ord=None, dim=None, keepdim=False, *, dtype=None",
                 "torch._C._linalg.linalg_norm", linalg_norm),
    composed_row(
        "linalg_matrix_power", "input, n",
        "torch._C._linalg.linalg_matrix_power torch.matrix_power .matrix_power",
        matrix_power)
        .stating({.layout_of = layout_of_matrix_power,
                  .native = NativeCalls::products}),
    composed_row("linalg_multi_dot", "tensors",
                 "torch._C._linalg.linalg_multi_dot", multi_dot),
    composed_row("chain_matmul", "*matrices", "torch.functional.chain_matmul",
                 chain_matmul),
    composed_row("linalg_vecdot", "x, y, *, dim=-1",
                 "torch._C._linalg.linalg_vecdot", vecdot),
    composed_row("linalg_diagonal", "input, *, offset=0, dim1=-2, dim2=-1",
                 "torch._C._linalg.linalg_diagonal", linalg_diagonal)
        .stating({.aliasing = Aliasing::always}),
};

}  // namespace

std::span<const OpRow> matrix_norm_rows() { return kMatrixNormsRows; }

}  // namespace fxjit::ops
