// Which rows are computed side by side, in the lanes of vectors. Pure analysis
// of a step.
#pragma once

#include <cstdint>

#include "src/program/rows/lane_memory.h"
#include "src/program/steps/fields.h"

namespace fxjit::program {

struct RowStep;

// Rows with reductions whose neighbours lie together in memory. Work goes round
// by round along them.
struct LaneGroup {
  int64_t rows = 0;      // Of a group; 0: rows are not computed so.
  int64_t elements = 0;  // Lanes that a round takes.
  // A round has so many positions of each row, which follow one another in
  // memory: lane i holds row i % rows at position i / rows of the round.
  int64_t positions = 1;
  // Whether later positions are asked for while one is worked on.
  bool asks_ahead = false;
  // Whether every other pass goes from the last position to the first, and so
  // begins with what the pass before touched last, which caches still hold.
  bool turns = false;

  bool empty() const { return rows == 0; }
  // Whether the group is all rows of the last outer dim and one task, of which
  // some lanes may be idle. Else every lane has a row, and each row is a task.
  bool takes_all() const { return positions > 1 || rows != elements; }
  // Values that a row buffer holds for each position, rounded up.
  int64_t kept() const { return (elements + positions - 1) / positions; }

  friend bool operator==(const LaneGroup&, const LaneGroup&) = default;
};

template <typename V>
void fields(Is<LaneGroup> auto& s, V& v) {
  v("rows", s.rows), v("elements", s.elements), v("positions", s.positions);
  v("asks_ahead", s.asks_ahead), v("turns", s.turns);
}

// `lanes`: of a vector.
LaneGroup lane_group(const RowStep& step, int lanes, SecondLevel second);

}  // namespace fxjit::program
