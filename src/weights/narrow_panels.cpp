#include "src/weights/narrow_panels.h"

#include <cstring>

#include "fxjit/error.h"

namespace fxjit::weights {
namespace {

constexpr int64_t kWeightsPerOutlier = 512;
constexpr int64_t kReadBeyond = 64;

int64_t panels_of(int64_t columns, int64_t width) {
  return (columns + width - 1) / width;
}

}  // namespace

int64_t columns_of(std::span<const PackSource> sources) {
  int64_t columns = 0;
  for (const PackSource& source : sources) columns += source.columns;
  return columns;
}

int64_t most_outliers(int64_t depth, int64_t columns) {
  return depth * columns / kWeightsPerOutlier;
}

int64_t outlier_bytes(int64_t depth, int64_t columns, int64_t width) {
  return panels_of(columns, width) * 4 +
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
  const int64_t panels = panels_of(columns, width);
  const std::byte* behind =
      packed + header_bytes(format, columns, width) +
      panels * packed_depth(depth) * panel_row_bytes(format, width);
  ends_ = reinterpret_cast<const uint32_t*>(behind);
  first_ = reinterpret_cast<const Outlier*>(behind + panels * 4);
}

std::span<const Outlier> Outliers::of_panel(int64_t panel) const {
  const uint32_t begin = panel == 0 ? 0 : ends_[panel - 1];
  return {first_ + begin, first_ + ends_[panel]};
}

}  // namespace fxjit::weights
