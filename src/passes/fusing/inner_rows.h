// Decides when a reduction along a dim that is not the last one is computed row
// by row. Such rows are strided: element i of a row lies `neighbours` elements
// behind element i - 1, where `neighbours` is the product of the sizes of the
// dims after the reduced one. The loops compute several neighbouring rows at
// once, one in each lane of a vector. Used by grouping, and by the planner for
// how it cuts such rows.
#pragma once

#include <cstdint>
#include <vector>

#include "fxjit/fx/node.h"

namespace fxjit::passes {

// A step needs at least this many tasks to keep the threads busy.
inline constexpr int64_t kLeastTasks = 4;
// If there are fewer groups of rows than kLeastTasks, each row is cut into
// equal pieces: at most kMostPieces of at least kShortestPiece elements.
// has_pieces says whether a row of `inner` elements can be cut so.
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

// Whether a reduction of a tensor of shape `domain` over `dims` is computed row
// by row; else it is a reduction over columns. It is so in two cases. Either
// the group that it reads walks rows along that dim already (`walked`), or
// elementwise calls of shape `domain` read what is made of the result, as in
// softmax and norms. In the second case long rows that are reduced once only
// are left to columns, unless all neighbours are computed together. A long row
// without neighbours is treated like a row of the last dim.
bool walks_inner_rows(const fx::Node& reduction, const std::vector<int>& dims,
                      const Dims& domain, int walked, bool serial);

}  // namespace fxjit::passes
