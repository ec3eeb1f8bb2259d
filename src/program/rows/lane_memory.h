// How the memory of rows that are computed side by side lies in the caches:
// what positions of a row share, and what of them stays. Pure analysis of a
// step.
#pragma once

#include <cstdint>
#include <vector>

namespace fxjit::program {

struct Access;
struct LaneGroup;
struct RowStep;

// What a level of the caches is made of. The first is as every machine has it
// at least.
struct CacheSets {
  int64_t sets;
  int64_t ways;
};
inline constexpr CacheSets kFirstLevel{64, 8};

// The second level, as far as lanes use it.
struct SecondLevel {
  int64_t bytes;

  CacheSets sets() const;
};
// Rules were measured on 512 KiB and 1 MiB: more is left to others.
SecondLevel second_level(int64_t bytes);

// Whether lines that lie as the positions of a row in any of the operands push
// each other out of the cache: they share some of its sets, which hold fewer of
// them. Operands that all neighbours share do not count.
bool positions_collide(const RowStep& step, const std::vector<Access>& operands,
                       CacheSets cache);

// Whether positions begin anywhere in a line, so that groups of neighbours meet
// within lines.
bool groups_share_lines(const RowStep& step);

// Whether so much is walked that what is read and written next is worth asking
// for. Machines do so by themselves only where few positions lie apart.
bool asks_ahead(const RowStep& step, const LaneGroup& group,
                SecondLevel second);

// Whether what a pass reads of a group is not all there for the next one.
bool leaves_second_level(const RowStep& step, const LaneGroup& group,
                         SecondLevel second);

}  // namespace fxjit::program
