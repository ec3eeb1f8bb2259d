// Decides how a row step becomes code. The step's form takes a RowCode to the
// code generator, and the plan of the step takes its scratch and its grain from
// the same one, so that both agree.
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

// The operands in which neighbouring rows lie side by side but the elements of
// a row do not, as in a transpose. Code transposes a group of rows into scratch
// tile by tile, computes there, and transposes the results back. Empty if no
// operand is worth that.
struct Crosswise {
  struct Operand {
    size_t operand;  // Inputs are counted first, then outputs.
    size_t offset;   // Bytes from the start of scratch.

    friend bool operator==(const Operand&, const Operand&) = default;
  };
  std::vector<Operand> operands;
  int64_t rows = 1;   // Rows of a group.
  int span = 1;       // Last outer dims over which neighbours lie side by side.
  int64_t pitch = 0;  // Elements from row to row in scratch.
  size_t bytes = 0;   // Of scratch, row buffers follow.

  bool empty() const { return operands.empty(); }
  bool holds(size_t operand) const;

  friend bool operator==(const Crosswise&, const Crosswise&) = default;
};

// What the analysis of a row step found. No field depends on a size that the
// form leaves out (see RowForm).
struct RowCode {
  bool flat = false;  // See is_flat.
  Crosswise crosswise;
  // If not empty, there are no crosswise operands, and a row buffer holds the
  // values of all rows of the group, those of one round side by side.
  LaneGroup lanes;
  RowSchedule schedule;

  size_t scratch_bytes() const {
    return lanes.empty()
               ? crosswise.bytes + schedule.buffer_bytes
               : schedule.buffer_bytes * static_cast<size_t>(lanes.kept());
  }
  int64_t rows_of_task() const { return lanes.takes_all() ? lanes.rows : 1; }
  // Neighbouring tasks that one thread should compute together.
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
  v("operands", s.operands), v("rows", s.rows), v("span", s.span);
  v("pitch", s.pitch), v("bytes", s.bytes);
}
template <typename V>
void fields(Is<RowCode> auto& s, V& v) {
  v("flat", s.flat), v("crosswise", s.crosswise), v("lanes", s.lanes);
  v("schedule", s.schedule);
}

// Whether elements of the access are dense along the last outer dim and strided
// along the row.
bool lies_crosswise(const Access& access);
// Whether there are enough neighbouring rows in crosswise operands to turn
// whole tiles of them.
bool has_neighbours(const RowStep& step);
// Rewrites crosswise accesses as dense rows, which is what they are in scratch.
void read_along(RowStep& step);

// Whether the body has a reduction (sum, product, extremum, any, all) along
// rows.
bool has_reduction(const ScalarBody& body);

// The code of a step whose body rewrite_body() has rewritten already.
RowCode row_code(const RowStep& step, const Machine& machine);

}  // namespace fxjit::program
