// Rows along a dim that is not the last one: when the loops of a group walk
// them, neighbouring rows side by side in the lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/fx/node.h"

namespace fxjit::passes {

// Threads want so many tasks.
inline constexpr int64_t kLeastTasks = 4;
// Where rows are too few for the threads, each is cut into equal pieces.
inline constexpr int64_t kMostPieces = 32, kShortestPiece = 16;
bool has_pieces(int64_t inner);

// Whether rows of so many elements are fit for lanes, with so many elements in
// the dims behind theirs: their neighbours.
bool suits_lanes(int64_t inner, int64_t neighbours);

// Whether all neighbours of a position are taken at once: they are few, or some
// more that fill no whole lines, and `outer` groups of them leave work for
// threads, or need none. `serial`: there is one thread.
bool take_all_neighbours(int64_t outer, int64_t inner, int64_t neighbours,
                         bool serial);

// Whether a reduction over `dims` of `domain`, not the last ones, is made row
// by row: elementwise work over the domain reads what becomes of the result, as
// in softmax and norms, or the group that it reads walks such rows already,
// along the dim `walked`. Long rows that nothing reduces again are left to
// columns unless all neighbours are taken at once. Long rows without neighbours
// are as those of the last dim.
bool walks_inner_rows(const fx::Node& reduction, const std::vector<int>& dims,
                      const Dims& domain, int walked, bool serial);

}  // namespace fxjit::passes
