// Where the memory of rows that are computed side by side falls in the caches:
// which positions of a row compete for the same sets, and what a later pass
// still finds. Used by lanes.cpp, code.cpp and the planner's pieces. Pure
// analysis of a step. A position is the place of an element in its row.
#pragma once

#include <cstdint>
#include <vector>

namespace fxjit::program {

struct Access;
struct LaneGroup;
struct RowStep;

// The sets and ways of one level of the caches. kFirstLevel is what every
// machine has at least.
struct CacheSets {
  int64_t sets;
  int64_t ways;
};
inline constexpr CacheSets kFirstLevel{64, 8};

// The part of the second-level cache that rows in lanes count on.
struct SecondLevel {
  int64_t bytes;

  CacheSets sets() const;
};
// The level for a cache of `bytes`. The rules were measured on caches of 512
// KiB and 1 MiB, so of a larger one no more than 1 MiB counts.
SecondLevel second_level(int64_t bytes);

// Whether the positions of a row evict each other from `cache`. They do if the
// stride between them maps them to so few of its sets that these cannot hold
// the whole row, for any of the operands. Operands that are the same for all
// neighbours do not count.
bool positions_collide(const RowStep& step, const std::vector<Access>& operands,
                       CacheSets cache);

// Whether some input's positions begin in the middle of cache lines, so that
// neighbouring groups read and write parts of the same lines.
bool groups_share_lines(const RowStep& step);

// Whether the code should prefetch: the operands are larger than the cache that
// would hold them, and the processor's own prefetching follows only a few
// streams.
bool asks_ahead(const RowStep& step, const LaneGroup& group,
                SecondLevel second);

// Whether the inputs of a group do not stay in the second-level cache from one
// pass over its rows to the next.
bool leaves_second_level(const RowStep& step, const LaneGroup& group,
                         SecondLevel second);

}  // namespace fxjit::program
