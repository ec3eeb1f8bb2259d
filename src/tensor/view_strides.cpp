#include <optional>

#include "fxjit/dims.h"

namespace fxjit {

// Walks both shapes from the last dim. Old dims are gathered into chunks in
// which stepping is uniform; each chunk must be used up by whole new dims.
std::optional<Dims> view_strides(const Dims& sizes, const Dims& strides,
                                 const Dims& new_sizes) {
  if (numel(sizes) == 0) {
    return sizes == new_sizes ? strides : contiguous_strides(new_sizes);
  }
  Dims result(new_sizes.size(), 1);
  int target = new_sizes.size() - 1;
  Size base = sizes.empty() ? Size(1) : strides.back();
  Size chunk = 1;
  for (int d = sizes.size() - 1; d >= 0; --d) {
    chunk *= sizes[d];
    const bool chunk_ends =
        d == 0 || (sizes[d - 1] != 1 && strides[d - 1] != chunk * base);
    if (!chunk_ends) continue;
    Size used = 1;
    while (target >= 0 && (used < chunk || new_sizes[target] == 1)) {
      result[target] = used * base;
      used *= new_sizes[target--];
    }
    if (used != chunk) return std::nullopt;
    if (d > 0) {
      base = strides[d - 1];
      chunk = 1;
    }
  }
  while (target >= 0) {
    if (new_sizes[target] != 1) return std::nullopt;
    result[target--] = base;
  }
  return result;
}

}  // namespace fxjit
