// Panels of f32 on their way into a narrower format, and the weights that the
// format has no code for. For the formats of format.h alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/weights/format.h"
#include "src/weights/panels.h"

namespace fxjit::weights {

// Panels of f32 one after the other: calls panel(number, floats).
template <typename Fn>
void for_panels(std::span<const PackSource> sources, int64_t depth,
                int64_t width, Fn panel) {
  std::vector<float> floats(static_cast<size_t>(packed_depth(depth) * width));
  std::vector<PackSource> pieces;
  int64_t number = 0, have = 0;
  const auto flush = [&] {
    pack_panels(pieces, depth, width, floats.data());
    panel(number++, floats.data());
    pieces.clear();
    have = 0;
  };
  for (const PackSource& source : sources)
    for (int64_t at = 0; at < source.columns;) {
      PackSource piece = source;
      piece.data += at * source.column_stride;
      piece.columns = std::min(width - have, source.columns - at);
      at += piece.columns;
      have += piece.columns;
      pieces.push_back(piece);
      if (have == width) flush();
    }
  if (have > 0) flush();
}

// So many outliers a matrix may have: they then cost little time.
int64_t most_outliers(int64_t depth, int64_t columns);

// Where the panels of a matrix end, in bytes from its beginning.
int64_t outliers_at(Format format, int64_t depth, int64_t columns,
                    int64_t width);

// Bytes of the outliers behind the panels of a matrix, and of what vectors that
// reach over the last one's end may read.
int64_t outlier_bytes(int64_t depth, int64_t columns, int64_t width);

// Gathers the outliers of a matrix, panel by panel.
class OutlierWriter {
 public:
  void add(const Outlier& outlier) { outliers_.push_back(outlier); }
  void end_panel() { ends_.push_back(static_cast<uint32_t>(outliers_.size())); }
  // `behind` is where the panels of the K x N matrix end.
  void write(int64_t depth, int64_t columns, std::byte* behind) const;

 private:
  std::vector<Outlier> outliers_;
  std::vector<uint32_t> ends_;  // By panel.
};

}  // namespace fxjit::weights
