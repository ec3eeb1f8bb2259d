#include "kernels/products/double_panel.h"

#include <cstddef>
#include <cstring>

#include "fxjit/cpu_level.h"

#define FXJIT_LEVEL_CODE "kernels/products/double_loops.h"

namespace fxjit::kernels {
namespace {

#include "kernels/each_level.h"

}  // namespace

void multiply_panel(const DoublePanel& panel) {
  switch (host_cpu_level()) {
    case CpuLevel::avx512:
      return avx512::multiply(panel);
    case CpuLevel::avx2:
      return avx2::multiply(panel);
    case CpuLevel::sse41:
      return sse41::multiply(panel);
  }
}

void pack_double_panel(const double* b, int64_t b_depth, int64_t b_column,
                       int64_t depth, int64_t columns, double* panel) {
  constexpr int64_t kColumns = DoublePanel::kColumns;
  if (columns < kColumns)
    std::memset(panel, 0,
                static_cast<size_t>(depth * kColumns) * sizeof(double));
  // A few lines at a time, so that both sides stay in the first cache.
  constexpr int64_t kBlock = 64;
  for (int64_t first = 0; first < depth; first += kBlock) {
    const int64_t last = first + kBlock < depth ? first + kBlock : depth;
    for (int64_t n = 0; n < columns; ++n)
      for (int64_t k = first; k < last; ++k)
        panel[k * kColumns + n] = b[k * b_depth + n * b_column];
  }
}

}  // namespace fxjit::kernels
