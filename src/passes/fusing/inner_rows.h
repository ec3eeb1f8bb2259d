// Rows along a dim that is not the last one: when the loops of a group walk
// them, neighbouring rows side by side in the lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/fx/node.h"

namespace fxjit::passes {

// Longer rows lose digits in sums that few chains share, and what lanes keep of
// them leaves the first-level cache.
inline constexpr int64_t kLongestLaneRow = 512;

// Whether a reduction over `dims` of `domain`, not the last ones, is made row
// by row: rows are short, as many neighbours as fill the lanes lie side by
// side, and elementwise work over the domain reads what becomes of the result,
// as in softmax and norms, or the group that it reads walks such rows already,
// along the dim `walked`.
bool walks_inner_rows(const fx::Node& reduction, const std::vector<int>& dims,
                      const Dims& domain, int walked);

}  // namespace fxjit::passes
