#include "kernels/onednn/matmul_slices.h"

#include <algorithm>

#include "src/support/rounding.h"

namespace fxjit::kernels::onednn {
namespace {

using support::ceil_div;
using support::round_up;

// Work that pays for a hand-over between threads, about 20 us.
constexpr double kLeastSliceFlops = 2e6;

// Cuts one extent of the shape; `part` and `place` say which.
std::vector<MatmulSlice> cut(const MatmulShape& whole,
                             int64_t MatmulShape::* part,
                             int64_t MatmulSlice::* place, int64_t pieces,
                             int64_t step) {
  const int64_t total = whole.*part;
  const int64_t each = round_up(ceil_div(total, pieces), step);
  std::vector<MatmulSlice> slices;
  for (int64_t at = 0; at < total; at += each) {
    MatmulSlice slice{whole};
    slice.shape.*part = std::min(each, total - at);
    slice.*place = at;
    slices.push_back(slice);
  }
  return slices;
}

}  // namespace

std::vector<MatmulSlice> cut_matmul(const MatmulShape& whole, int threads,
                                    CutFirst first) {
  constexpr int64_t kRowStep = 8, kLeastRows = 16;
  const int64_t pieces = std::min<int64_t>(
      threads, static_cast<int64_t>(whole.flops() / kLeastSliceFlops));
  if (pieces < 2) return {{whole}};
  if (whole.batch >= pieces)
    return cut(whole, &MatmulShape::batch, &MatmulSlice::batch, pieces, 1);
  const bool columns = whole.columns >= kColumnStep * pieces;
  const bool rows = whole.rows >= kLeastRows * pieces;
  const bool columns_first =
      first == CutFirst::longer && whole.columns >= whole.rows;
  if (columns && (columns_first || !rows))
    return cut(whole, &MatmulShape::columns, &MatmulSlice::column, pieces,
               kColumnStep);
  if (rows)
    return cut(whole, &MatmulShape::rows, &MatmulSlice::row, pieces, kRowStep);
  return {{whole}};
}

}  // namespace fxjit::kernels::onednn
