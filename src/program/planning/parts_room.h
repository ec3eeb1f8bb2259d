// Whether a graph has the memory for concatenations that are there before their
// turn.
#pragma once

#include <set>

#include "src/program/planning/live_bytes.h"
#include "src/program/planning/parts.h"

namespace fxjit::program {

// Parts without which less memory is needed, if with them more were alive at
// some time than at the graph's peak: of one whole the part that is made first
// or needed last, or all. Empty if there is room.
std::set<RegionResult> parts_without_room(const LiveBytes& live,
                                          const Parts& parts, bool all);

}  // namespace fxjit::program
