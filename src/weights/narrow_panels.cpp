#include "src/weights/narrow_panels.h"

#include <cstring>

#include "fxjit/error.h"
#include "src/support/rounding.h"

namespace fxjit::weights {
namespace {

constexpr int64_t kWeightsPerOutlier = 512;
constexpr int64_t kReadBeyond = 64;

using support::ceil_div;

}  // namespace

int64_t most_outliers(int64_t depth, int64_t columns) {
  return depth * columns / kWeightsPerOutlier;
}

int64_t outliers_at(Format format, int64_t depth, int64_t columns,
                    int64_t width) {
  return header_bytes(format, columns, width) +
         ceil_div(columns, width) * packed_depth(depth) *
             panel_row_bytes(format, width);
}

int64_t outlier_bytes(int64_t depth, int64_t columns, int64_t width) {
  return ceil_div(columns, width) * 4 +
         most_outliers(depth, columns) * static_cast<int64_t>(sizeof(Outlier)) +
         kReadBeyond;
}

void OutlierWriter::write(int64_t depth, int64_t columns,
                          std::byte* behind) const {
  FXJIT_CHECK(
      static_cast<int64_t>(outliers_.size()) <= most_outliers(depth, columns),
      "weights were surveyed");
  std::memcpy(behind, ends_.data(), ends_.size() * sizeof(uint32_t));
  if (!outliers_.empty())
    std::memcpy(behind + ends_.size() * sizeof(uint32_t), outliers_.data(),
                outliers_.size() * sizeof(Outlier));
}

Outliers::Outliers(const std::byte* packed, Format format, int64_t depth,
                   int64_t columns, int64_t width) {
  const std::byte* behind =
      packed + outliers_at(format, depth, columns, width);
  ends_ = reinterpret_cast<const uint32_t*>(behind);
  first_ = reinterpret_cast<const Outlier*>(behind +
                                            ceil_div(columns, width) * 4);
}

std::span<const Outlier> Outliers::of_panel(int64_t panel) const {
  const uint32_t begin = panel == 0 ? 0 : ends_[panel - 1];
  return {first_ + begin, first_ + ends_[panel]};
}

}  // namespace fxjit::weights
