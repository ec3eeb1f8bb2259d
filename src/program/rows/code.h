// How a row step is turned into code: what its form carries to the code
// generator, and what the plan of a step (its scratch, its grain) must agree on
// with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fxjit/scalar_body.h"
#include "src/program/rows/lanes.h"
#include "src/program/rows/schedule.h"
#include "src/program/steps/access.h"
#include "src/program/steps/machine.h"
#include "src/support/machine/cache_line.h"

namespace fxjit::program {

struct RowStep;

// Operands of which neighbouring rows, not neighbouring elements, lie together,
// as in a transpose: a group of rows is brought into scratch by tiles, worked
// on there, and taken out again. Empty when there are none worth it.
struct Crosswise {
  struct Operand {
    size_t operand;  // Inputs are counted first, then outputs.
    size_t offset;   // Bytes from the start of scratch.

    friend bool operator==(const Operand&, const Operand&) = default;
  };
  std::vector<Operand> operands;
  int64_t rows = 1;   // Rows of a group.
  int64_t pitch = 0;  // Elements from row to row in scratch.
  size_t bytes = 0;   // Of scratch, row buffers follow.

  bool empty() const { return operands.empty(); }
  bool holds(size_t operand) const;

  friend bool operator==(const Crosswise&, const Crosswise&) = default;
};

// It holds no size that a form leaves out (RowForm).
struct RowCode {
  bool flat = false;  // See is_flat.
  Crosswise crosswise;
  // There are no crosswise operands then, and each row buffer holds the values
  // of all rows of the group, those of a round together.
  LaneGroup lanes;
  RowSchedule schedule;

  size_t scratch_bytes() const {
    return lanes.empty()
               ? crosswise.bytes + schedule.buffer_bytes
               : schedule.buffer_bytes * static_cast<size_t>(lanes.kept());
  }
  int64_t rows_of_task() const { return lanes.takes_all() ? lanes.rows : 1; }
  // Tasks that had better not be parted.
  int64_t tasks_at_once() const {
    if (lanes.takes_all()) return 1;
    return lanes.empty() ? crosswise.rows
                         : std::max(lanes.rows, support::kLineFloats);
  }

  friend bool operator==(const RowCode&, const RowCode&) = default;
};

template <typename V>
void fields(Is<Crosswise::Operand> auto& s, V& v) {
  v("operand", s.operand), v("offset", s.offset);
}
template <typename V>
void fields(Is<Crosswise> auto& s, V& v) {
  v("operands", s.operands), v("rows", s.rows), v("pitch", s.pitch);
  v("bytes", s.bytes);
}
template <typename V>
void fields(Is<RowCode> auto& s, V& v) {
  v("flat", s.flat), v("crosswise", s.crosswise), v("lanes", s.lanes);
  v("schedule", s.schedule);
}

// Whether elements of the access lie together along the last outer dim only.
bool lies_crosswise(const Access& access);
// What lies crosswise is read as if it lay along the row.
void read_along(RowStep& step);

// Whether the body sums, or takes extremes or products, along its rows.
bool has_reduction(const ScalarBody& body);

// Of a step with a rewritten body.
RowCode row_code(const RowStep& step, const Machine& machine);

}  // namespace fxjit::program
