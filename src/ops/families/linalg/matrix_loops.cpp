#include "src/ops/families/linalg/matrix_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fxjit::ops {
namespace {

void swap_rows(double* matrix, int64_t columns, int64_t a, int64_t b) {
  if (a != b)
    std::swap_ranges(matrix + a * columns, matrix + (a + 1) * columns,
                     matrix + b * columns);
}

// row -= factor * other
void subtract(double* row, double factor, const double* other, int64_t count) {
  for (int64_t j = 0; j < count; ++j) row[j] -= factor * other[j];
}

int64_t greatest_below(const std::vector<double>& a, int64_t n, int64_t k) {
  int64_t best = k;
  for (int64_t i = k + 1; i < n; ++i)
    if (std::abs(a[static_cast<size_t>(i * n + k)]) >
        std::abs(a[static_cast<size_t>(best * n + k)]))
      best = i;
  return best;
}

// Turns columns p and q of a [rows, columns] matrix so that they become
// orthogonal; false if they are.
bool make_orthogonal(std::vector<double>& a, int64_t rows, int64_t columns,
                     int64_t p, int64_t q) {
  double pp = 0, qq = 0, pq = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const double x = a[static_cast<size_t>(i * columns + p)];
    const double y = a[static_cast<size_t>(i * columns + q)];
    pp += x * x;
    qq += y * y;
    pq += x * y;
  }
  if (!(std::abs(pq) > 1e-16 * std::sqrt(pp * qq))) return false;
  const double tau = (qq - pp) / (2 * pq);
  const double t =
      std::copysign(1 / (std::abs(tau) + std::sqrt(1 + tau * tau)), tau);
  const double c = 1 / std::sqrt(1 + t * t), s = c * t;
  for (int64_t i = 0; i < rows; ++i) {
    double& x = a[static_cast<size_t>(i * columns + p)];
    double& y = a[static_cast<size_t>(i * columns + q)];
    const double turned = c * x - s * y;
    y = s * x + c * y;
    x = turned;
  }
  return true;
}

}  // namespace

LuFactors lu_factors(const double* matrix, int64_t n) {
  LuFactors lu;
  lu.n = n;
  lu.a.assign(matrix, matrix + n * n);
  double* const a = lu.a.data();
  for (int64_t k = 0; k < n; ++k) {
    const int64_t pivot = greatest_below(lu.a, n, k);
    lu.pivots.push_back(pivot);
    if (pivot != k) lu.sign = -lu.sign;
    swap_rows(a, n, k, pivot);
    if (a[k * n + k] == 0) {
      if (lu.zero < 0) lu.zero = k;
      continue;
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] /= a[k * n + k];
      subtract(a + i * n + k + 1, factor, a + k * n + k + 1, n - k - 1);
    }
  }
  return lu;
}

void LuFactors::solve(double* b, int64_t columns) const {
  for (int64_t k = 0; k < n; ++k)
    swap_rows(b, columns, k, pivots[static_cast<size_t>(k)]);
  solve_triangle(a.data(), n, /*upper=*/false, /*unit=*/true, b, columns);
  solve_triangle(a.data(), n, /*upper=*/true, /*unit=*/false, b, columns);
}

void solve_triangle(const double* a, int64_t n, bool upper, bool unit,
                    double* b, int64_t columns) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = upper ? n - 1 - step : step;
    double* const row = b + i * columns;
    const int64_t first = upper ? i + 1 : 0, last = upper ? n : i;
    for (int64_t k = first; k < last; ++k)
      subtract(row, a[i * n + k], b + k * columns, columns);
    if (unit) continue;
    for (int64_t j = 0; j < columns; ++j) row[j] /= a[i * n + i];
  }
}

int64_t cholesky_factor(const double* matrix, int64_t n, double* lower) {
  std::fill(lower, lower + n * n, 0.0);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j <= i; ++j) {
      double sum = matrix[i * n + j];
      for (int64_t k = 0; k < j; ++k)
        sum -= lower[i * n + k] * lower[j * n + k];
      if (i != j)
        lower[i * n + j] = sum / lower[j * n + j];
      else if (sum > 0)
        lower[i * n + i] = std::sqrt(sum);
      else
        return i + 1;
    }
  return 0;
}

std::vector<double> singular_values(const double* matrix, int64_t rows,
                                    int64_t columns) {
  const bool wide = columns > rows;
  const int64_t tall = std::max(rows, columns), n = std::min(rows, columns);
  std::vector<double> a(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < tall; ++i)
    for (int64_t j = 0; j < n; ++j)
      a[static_cast<size_t>(i * n + j)] =
          matrix[wide ? j * columns + i : i * columns + j];
  // A few rounds are enough; each squares the error.
  constexpr int kMostRounds = 60;
  bool turned = true;
  for (int round = 0; turned && round < kMostRounds; ++round) {
    turned = false;
    for (int64_t p = 0; p + 1 < n; ++p)
      for (int64_t q = p + 1; q < n; ++q)
        turned |= make_orthogonal(a, tall, n, p, q);
  }
  std::vector<double> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < tall; ++i)
    for (int64_t j = 0; j < n; ++j)
      values[static_cast<size_t>(j)] = std::hypot(
          values[static_cast<size_t>(j)], a[static_cast<size_t>(i * n + j)]);
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

}  // namespace fxjit::ops
