// One pass over a row: the loop over its vectors with everything that the
// schedule computes in it. Used by rows.cpp only.
#pragma once

#include <deque>

#include "jit/emit/access.h"
#include "jit/emit/body.h"
#include "jit/emit/reduction.h"
#include "src/program/rows/form.h"

namespace fxjit::jit {

// The row that is being emitted. All values dominate all of its passes.
struct Row {
  const program::RowForm& form;
  const StepArguments& arguments;
  Values operands;   // First element of this row, per operand.
  Values constants;  // Per instruction: row constant known so far, a scalar.
  Values splats;     // The same as vectors.
  Values buffers;    // Per instruction: its row buffer, or null.
  // Only for rows of a few vectors, which are straight-line code: the values of
  // each vector, which stay in registers from pass to pass and need no buffers.
  std::deque<BodyValues> resident;

  const ScalarBody& body() const { return form.body; }
  const program::RowSchedule& schedule() const { return form.code.schedule; }
};

// The values of the body at `place` in pass number `pass`.
BodyValues row_values(VectorBuilder& b, const Row& row, const Place& place,
                      int32_t pass);

class RowPass {
 public:
  RowPass(VectorBuilder& b, Row& row, size_t number);

  // Emits the pass over the whole row. Returns a scalar for each reduction.
  Values whole_row();
  // Emits elements [first, last) of a flat step. `last` is the end of the row
  // or a multiple of program::kFlatChunk.
  void chunks(Value* first, Value* last);

 private:
  // `accumulators` has, for each reduction, one vector for each copy.
  Values strip(Value* lo, Value* hi, int copies, const Values& accumulators);
  Values vectors(Value* first, int copies, const Values& accumulators);
  Values resident(const Values& accumulators);
  // Emits what is left of the row after the strips.
  Values rest(const Values& accumulators);
  // Emits one vector; lanes beyond the end of the row do not count.
  Values part(Value* first, const Values& accumulators);
  // The length of the row, rounded down to a multiple of `vectors` vectors.
  Value* whole(int vectors);
  void accumulate(BodyValues& values, const Place& place, int copy,
                  Values& accumulators);
  void store(BodyValues& values, const Place& place);

  void prefetch_inputs(Value* first, int copies);

  Values identities() const;
  Values finish(const Values& accumulators) const;

  VectorBuilder& b_;
  Row& row_;
  int32_t number_;
  const program::RowSchedule::Pass& pass_;
  const ScalarBody& body_;
  int copies_;
  bool heavy_;
  std::vector<int32_t> order_;
};

}  // namespace fxjit::jit
