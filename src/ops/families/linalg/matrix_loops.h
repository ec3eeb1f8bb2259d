// Factorisations of small dense matrices in double precision. Used by the
// linear algebra families.
#pragma once

#include <cstdint>
#include <vector>

namespace fxjit::ops {

// P A = L U of a square matrix by partial pivoting: row i was swapped with row
// pivots[i] before it was used.
struct LuFactors {
  int64_t n = 0;
  std::vector<double> a;  // L below the diagonal, of which ones are left out.
  std::vector<int64_t> pivots;
  double sign = 1;    // Of the permutation.
  int64_t zero = -1;  // The first row whose diagonal element is 0, or -1.

  // Solves A X = B, B [n, columns] row by row, in place. Needs zero < 0.
  void solve(double* b, int64_t columns) const;
};
LuFactors lu_factors(const double* matrix, int64_t n);

// The lower factor L of A = L L^T, zeros above; reads the lower half of A. The
// order of the first leading minor that is not positive, or 0.
int64_t cholesky_factor(const double* matrix, int64_t n, double* lower);

// Solves A X = B for a triangular A, in place.
void solve_triangle(const double* a, int64_t n, bool upper, bool unit,
                    double* b, int64_t columns);

// Singular values in falling order, min(rows, columns) of them.
std::vector<double> singular_values(const double* matrix, int64_t rows,
                                    int64_t columns);

}  // namespace fxjit::ops
