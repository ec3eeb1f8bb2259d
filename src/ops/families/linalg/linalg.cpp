// Inverses, determinants, solutions of linear systems and factors of matrices,
// computed in double precision.
#include <cmath>
#include <functional>

#include "fxjit/functions_structured.h"
#include "src/ops/families/linalg/matrix_loops.h"
#include "src/ops/families/shared/composition.h"
#include "src/ops/families/shared/structured.h"
#include "src/ops/table/families.h"

namespace fxjit::ops {
namespace {

// torch's name of a function in messages: "linalg.inv" of "linalg_inv".
std::string shown_name(const OpCall& call) {
  std::string name(call.op.name());
  constexpr std::string_view kPrefix = "linalg_";
  if (name.starts_with(kPrefix)) name[kPrefix.size() - 1] = '.';
  return name;
}

void check_matrices(const Tensor& a, const std::string& name) {
  if (a.dim() < 2)
    runtime_error(name,
                  ": The input tensor A must have at least 2 dimensions.");
  if (!is_floating(a.dtype()))
    runtime_error(
        name, ": Expected a floating point or complex tensor as input. Got ",
        torch_type_name(a.dtype()));
  if (a.dtype() == DType::f16 || a.dtype() == DType::bf16)
    runtime_error(name, ": Low precision dtypes not supported. Got ",
                  torch_type_name(a.dtype()));
}

void check_square(const Tensor& a, const std::string& name) {
  check_matrices(a, name);
  if (a.size(-1) != a.size(-2))
    runtime_error(name, ": A must be batches of square matrices, but they are ",
                  a.size(-2), " by ", a.size(-1), " matrices");
}

Dims batch_of(const Tensor& a) {
  Dims sizes = a.sizes();
  sizes.resize(a.dim() - 2);
  return sizes;
}

// A copy, which kernels may write over.
Tensor in_double(const Tensor& a) {
  const Tensor copy = Tensor::empty(a.sizes(), DType::f64);
  copy.copy_from(a);
  return copy;
}

// Calls fn(number, first element) for each matrix of a contiguous tensor.
void for_each_matrix(const Tensor& a,
                     const std::function<void(int64_t, double*)>& fn) {
  const int64_t elements = a.size(-1) * a.size(-2);
  for (int64_t i = 0, n = numel(batch_of(a)); i < n; ++i)
    fn(i, a.data_as<double>() + i * elements);
}

// "(Batch element 1): ", of a single matrix nothing.
std::string batch_text(const Tensor& a, int64_t i) {
  return a.dim() > 2 ? "(Batch element " + std::to_string(i) + "): " : "";
}

Value infer_square_matrix(const OpCall& call) {
  check_square(call.tensor(0), shown_name(call));
  return infer_like_first(call);
}

// torch.inverse speaks of linalg.inv.
Value infer_inverse(const OpCall& call) {
  check_square(call.tensor(0), "linalg.inv");
  return infer_like_first(call);
}

void run_inverse(const OpCall& call, std::span<const Tensor> results) {
  const Tensor a = in_double(call.tensor(0));
  const int64_t n = a.size(-1);
  for_each_matrix(a, [&](int64_t i, double* matrix) {
    const LuFactors lu = lu_factors(matrix, n);
    if (lu.zero >= 0)
      runtime_error("linalg.inv: ", batch_text(a, i), "The diagonal element ",
                    lu.zero + 1,
                    " is zero, the inversion could not be completed because "
                    "the input matrix is singular.");
    std::fill(matrix, matrix + n * n, 0.0);
    for (int64_t d = 0; d < n; ++d) matrix[d * n + d] = 1;
    lu.solve(matrix, n);
  });
  results[0].copy_from(a);
}

Value infer_determinant(const OpCall& call) {
  check_square(call.tensor(0), "linalg.det");
  return Tensor::meta(batch_of(call.tensor(0)), call.tensor(0).dtype());
}

void run_determinant(const OpCall& call, std::span<const Tensor> results) {
  const Tensor a = in_double(call.tensor(0));
  const Tensor out = Tensor::empty(results[0].sizes(), DType::f64);
  for_each_matrix(a, [&](int64_t i, double* matrix) {
    const int64_t n = a.size(-1);
    const LuFactors lu = lu_factors(matrix, n);
    double product = lu.sign;
    for (int64_t d = 0; d < n; ++d)
      product *= lu.a[static_cast<size_t>(d * n + d)];
    out.data_as<double>()[i] = product;
  });
  results[0].copy_from(out);
}

Value infer_slogdet(const OpCall& call) {
  check_square(call.tensor(0), "linalg.slogdet");
  const Tensor one =
      Tensor::meta(batch_of(call.tensor(0)), call.tensor(0).dtype());
  return Value::tuple({one, one});
}

void run_slogdet(const OpCall& call, std::span<const Tensor> results) {
  const Tensor a = in_double(call.tensor(0));
  const Tensor signs = Tensor::empty(results[0].sizes(), DType::f64);
  const Tensor logs = Tensor::empty(results[0].sizes(), DType::f64);
  for_each_matrix(a, [&](int64_t i, double* matrix) {
    const int64_t n = a.size(-1);
    const LuFactors lu = lu_factors(matrix, n);
    double sign = lu.sign, sum = 0;
    for (int64_t d = 0; d < n; ++d) {
      const double element = lu.a[static_cast<size_t>(d * n + d)];
      sign *= element == 0         ? 0
              : element != element ? element
                                   : std::copysign(1, element);
      sum += std::log(std::abs(element));
    }
    signs.data_as<double>()[i] = sign;
    logs.data_as<double>()[i] = sum;
  });
  results[0].copy_from(signs);
  results[1].copy_from(logs);
}

Value logdet(const OpCall& call) {
  const Value parts = function("torch.slogdet", {call[0]});
  return fxjit::getitem(parts, 1) + fxjit::log(fxjit::getitem(parts, 0));
}

// B is a batch of vectors.
bool solves_vectors(const Tensor& a, const Tensor& b) {
  if (b.dim() == 1) return true;
  Dims sizes = a.sizes();
  sizes.erase(sizes.size() - 1);
  return b.sizes() == sizes;
}

struct System {
  Dims batch;
  int64_t n = 0, others = 0;  // A is [n, n]; B has so many right sides.
  bool vectors = false, left = true;

  Dims sizes() const {
    if (vectors) return joined(batch, {n});
    return joined(batch, left ? Dims{n, others} : Dims{others, n});
  }
};

System system_of(const Tensor& a, const Tensor& b, bool left,
                 bool may_be_vectors, const std::string& name) {
  check_square(a, name);
  if (a.dtype() != b.dtype())
    runtime_error(
        name, ": Expected A and B to have the same dtype, but found A of type ",
        torch_type_name(a.dtype()), " and B of type ",
        torch_type_name(b.dtype()), " instead");
  System system;
  system.left = left;
  system.vectors = may_be_vectors && solves_vectors(a, b);
  system.n = a.size(-1);
  if (!system.vectors && b.dim() < 2)
    runtime_error(name,
                  ": The input tensor B must have at least 2 dimensions.");
  const int64_t rows = b.size(system.vectors ? -1 : -2);
  const int64_t columns = system.vectors ? Size(1) : b.size(-1);
  if ((left ? rows : columns) != system.n)
    runtime_error(name, ": Incompatible shapes of A and B for the equation ",
                  left ? "AX = B" : "XA = B", " (", a.size(-2), "x", a.size(-1),
                  " and ", rows, "x", columns, ")");
  system.others = left ? columns : rows;
  Dims batch = system.vectors ? b.sizes() : batch_of(b);
  if (system.vectors) batch.erase(batch.size() - 1);
  system.batch = broadcast_shapes(batch_of(a), batch);
  return system;
}

// Right sides as columns, [batch, n, others] in double precision; solutions are
// written over them and then to `out`.
void solve_system(const System& system, const Tensor& a, const Tensor& b,
                  const Tensor& out,
                  const std::function<void(double*, double*)>& solve) {
  const Tensor matrices =
      Tensor::empty(joined(system.batch, {system.n, system.n}), DType::f64);
  matrices.copy_from(system.left ? a : fxjit::transpose(a, -1, -2).as_tensor());
  Value sides = b;
  if (system.vectors)
    sides = fxjit::unsqueeze(sides, -1);
  else if (!system.left)
    sides = fxjit::transpose(sides, -1, -2);
  const Tensor columns = Tensor::empty(
      joined(system.batch, {system.n, system.others}), DType::f64);
  columns.copy_from(sides.as_tensor());
  const int64_t step = system.n * system.others;
  for_each_matrix(matrices, [&](int64_t i, double* matrix) {
    solve(matrix, columns.data_as<double>() + i * step);
  });
  Value solution = columns;
  if (system.vectors)
    solution = fxjit::squeeze(solution, -1);
  else if (!system.left)
    solution = fxjit::transpose(solution, -1, -2);
  out.copy_from(solution.as_tensor());
}

Value infer_solve(const OpCall& call) {
  const System system = system_of(call.tensor(0), call.tensor(1), call.flag(2),
                                  true, "linalg.solve");
  return Tensor::meta(system.sizes(), call.tensor(1).dtype());
}

void run_solve(const OpCall& call, std::span<const Tensor> results) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  const System system = system_of(a, b, call.flag(2), true, "linalg.solve");
  solve_system(system, a, b, results[0], [&](double* matrix, double* columns) {
    const LuFactors lu = lu_factors(matrix, system.n);
    if (lu.zero >= 0)
      runtime_error(
          "torch.linalg.solve: The solver failed because the input matrix is "
          "singular.");
    lu.solve(columns, system.others);
  });
}

Value infer_solve_triangular(const OpCall& call) {
  const System system = system_of(call.tensor(0), call.tensor(1), call.flag(3),
                                  false, "linalg.solve_triangular");
  return Tensor::meta(system.sizes(), call.tensor(1).dtype());
}

void run_solve_triangular(const OpCall& call, std::span<const Tensor> results) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  const System system =
      system_of(a, b, call.flag(3), false, "linalg.solve_triangular");
  // A transposed triangle is one of the other kind.
  const bool upper = call.flag(2) == system.left;
  solve_system(system, a, b, results[0], [&](double* matrix, double* columns) {
    solve_triangle(matrix, system.n, upper, call.flag(4), columns,
                   system.others);
  });
}

void run_cholesky(const OpCall& call, std::span<const Tensor> results) {
  const Tensor& input = call.tensor(0);
  const bool upper = call.flag(1);
  const Tensor a =
      in_double(upper ? fxjit::transpose(input, -1, -2).as_tensor() : input);
  const Tensor out = Tensor::empty(a.sizes(), DType::f64);
  const int64_t n = a.size(-1);
  for_each_matrix(a, [&](int64_t i, double* matrix) {
    const int64_t minor =
        cholesky_factor(matrix, n, out.data_as<double>() + i * n * n);
    if (minor > 0)
      runtime_error(
          shown_name(call), ": ", batch_text(a, i),
          "The factorization could not be completed because the input is not "
          "positive-definite (the leading minor of order ",
          minor, " is not positive-definite).");
  });
  results[0].copy_from(upper ? fxjit::transpose(out, -1, -2).as_tensor() : out);
}

Value infer_singular(const OpCall& call) {
  const Tensor& a = call.tensor(0);
  check_matrices(a, "linalg.svd");
  return Tensor::meta(joined(batch_of(a), {std::min(a.size(-1), a.size(-2))}),
                      a.dtype());
}

void run_singular(const OpCall& call, std::span<const Tensor> results) {
  const Tensor a = in_double(call.tensor(0));
  for (int64_t i = 0, n = a.numel(); i < n; ++i)
    if (!std::isfinite(a.data_as<double>()[i]))
      runtime_error(
          "linalg.svd: The algorithm failed to converge because the input "
          "matrix contained non-finite values.");
  const Tensor out = Tensor::empty(results[0].sizes(), DType::f64);
  for_each_matrix(a, [&](int64_t i, double* matrix) {
    const std::vector<double> values =
        singular_values(matrix, a.size(-2), a.size(-1));
    std::copy(values.begin(), values.end(),
              out.data_as<double>() + i * static_cast<int64_t>(values.size()));
  });
  results[0].copy_from(out);
}

Layout layout_of_solve(const OpCall& call) {
  const auto left = static_cast<size_t>(call.op.index_of("left"));
  return call.flag(left) ? Layout::columns : Layout::plain;
}

constexpr OpRow kLinalgRows[] = {
    direct_row("linalg_inv", "input",
               "torch._C._linalg.linalg_inv torch.inverse .inverse",
               infer_inverse, run_inverse)
        .stating({.layout = Layout::columns}),
    direct_row("linalg_det", "input",
               "torch._C._linalg.linalg_det torch.det .det", infer_determinant,
               run_determinant),
    direct_row("linalg_slogdet", "input",
               "torch._C._linalg.linalg_slogdet torch.slogdet .slogdet",
               infer_slogdet, run_slogdet),
    composed_row("logdet", "input", "torch.logdet .logdet", logdet),
    direct_row("linalg_solve", "input, other, *, left=True",
               "torch._C._linalg.linalg_solve", infer_solve, run_solve)
        .stating({.layout_of = layout_of_solve}),
    direct_row("linalg_solve_triangular",
               "input, other, *, upper, left=True, unitriangular=False",
               "torch._C._linalg.linalg_solve_triangular",
               infer_solve_triangular, run_solve_triangular)
        .stating({.layout = Layout::columns}),
    direct_row("linalg_cholesky", "input, *, upper=False",
               "torch._C._linalg.linalg_cholesky", infer_square_matrix,
               run_cholesky)
        .stating({.layout = Layout::columns}),
    direct_row("cholesky", "input, upper=False", "torch.cholesky .cholesky",
               infer_square_matrix, run_cholesky)
        .stating({.layout = Layout::columns}),
    direct_row("linalg_svdvals", "input, *, driver=None",
               "torch._C._linalg.linalg_svdvals", infer_singular, run_singular),
};

}  // namespace

std::span<const OpRow> linalg_rows() { return kLinalgRows; }

}  // namespace fxjit::ops
