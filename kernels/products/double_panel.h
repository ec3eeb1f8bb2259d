// The loops of products in f64: rows of a matrix times a packed panel of 16
// columns, in plain C++ vectorised for the machine's level.
#pragma once

#include <cstdint>

namespace fxjit::kernels {

struct DoublePanel {
  static constexpr int64_t kColumns = 16;

  const double* a;  // [rows, depth], any strides.
  int64_t a_row, a_depth;
  int64_t rows, depth;
  const double* panel;  // [depth, 16].
  const double* start;  // What the sums start with: 16 numbers.
  double* c;            // [rows, columns], columns contiguous.
  int64_t c_row;
  int64_t columns;  // How many of the panel's are stored.
};

void multiply_panel(const DoublePanel& panel);

// Columns [0, columns) of b [depth, ...] as a panel, zeros behind them.
void pack_double_panel(const double* b, int64_t b_depth, int64_t b_column,
                       int64_t depth, int64_t columns, double* panel);

}  // namespace fxjit::kernels
