// Decides which rows are computed side by side, one in each lane of a vector.
// Used by row_code() when a step is analysed; the code generator reads the
// result. Pure analysis of a step.
#pragma once

#include <cstdint>

#include "src/program/rows/lane_memory.h"
#include "src/program/steps/fields.h"

namespace fxjit::program {

struct RowStep;

// A group of neighbouring rows with reductions that vectors compute together.
// The rows' elements at one position lie side by side in memory. The loop goes
// along the rows in rounds, each of one position or of several.
struct LaneGroup {
  int64_t rows = 0;      // Of a group; 0: rows are not computed so.
  int64_t elements = 0;  // Lanes that a round takes.
  // Positions of each row that one round covers. They follow one another in
  // memory: lane i holds row i % rows at position i / rows of the round.
  int64_t positions = 1;
  // Whether the code prefetches later positions while it works on one.
  bool asks_ahead = false;
  // Whether every other pass walks from the last position to the first. Such a
  // pass begins with what the pass before it touched last, which caches still
  // hold.
  bool turns = false;

  bool empty() const { return rows == 0; }
  // Whether one task computes all rows of the last outer dim as one group; some
  // lanes may be idle then. Otherwise each row is a task and fills a lane.
  bool takes_all() const { return positions > 1 || rows != elements; }
  // Values that a row buffer holds for each position of a row, rounded up.
  int64_t kept() const { return (elements + positions - 1) / positions; }

  friend bool operator==(const LaneGroup&, const LaneGroup&) = default;
};

template <typename V>
void fields(Is<LaneGroup> auto& s, V& v) {
  v("rows", s.rows), v("elements", s.elements), v("positions", s.positions);
  v("asks_ahead", s.asks_ahead), v("turns", s.turns);
}

// The group for a step, empty if its rows are not computed side by side.
// `lanes` is the number of floats in a vector, `second` the second-level cache.
LaneGroup lane_group(const RowStep& step, int lanes, SecondLevel second);

}  // namespace fxjit::program
