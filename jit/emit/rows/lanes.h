// Emits row steps in which the elements of neighbouring rows, and not of one
// row, lie side by side in memory. A group of rows is computed at once, each
// row in lanes of its own: a reduction is one operation for each vector, and
// nothing is transposed. Used by the row skeleton only.
#pragma once

#include <set>

#include "jit/emit/body.h"
#include "jit/emit/rows/lane_operands.h"
#include "src/program/rows/rewrite.h"

namespace fxjit::jit {

class LaneRows {
 public:
  LaneRows(VectorBuilder& b, const program::RowForm& form,
           const StepArguments& arguments);

  // Emits all passes of one group of `vectors` vectors (vectors of a round, if
  // several positions share one). `operands` has the first element of the
  // group's first row for each operand, `outer` the position of that row.
  // `active` is the number of rows if the group is a single vector that may not
  // be full, else null.
  void run(const Values& operands, const Values& outer, int vectors,
           Value* active = nullptr);

 private:
  struct Group;

  Values pass(Group& group, size_t number);
  Values whole_rounds(Group& group, size_t number, const Values& nothing);
  Values stretch(Group& group, size_t number, Value* first, Value* end,
                 const Values& nothing);
  int64_t chains_of(size_t number) const;
  // Whether pass number `number` goes from the last round to the first.
  bool goes_back(size_t number) const {
    return code_.lanes.turns && number % 2 == 1;
  }
  Values joined(const Values& sums, size_t number, int64_t chains);
  Values added(const Values& sums, const Values& more, size_t number);
  Values met(const Values& sums, size_t number);
  BodyValues values_at(Group& group, size_t number, LaneSpot spot);
  void ask_ahead(Group& group, size_t number, Value* round);
  Values round(Group& group, size_t number, LaneSpot first,
               const Values& accumulators);
  void some_vectors(Group& group, size_t number, LaneSpot first, int count,
                    Values& accumulators);
  // The number of the operand that body.results[result] is written to.
  size_t output(int32_t result) const {
    return form_.loops.inputs.size() + size_t(result);
  }
  void emit_constants(Group& group, int32_t level);
  void store_constants(Group& group);

  VectorBuilder& b_;
  const program::RowForm& form_;
  const program::RowCode& code_;
  const ScalarBody& body_;
  const program::RowSchedule& schedule_;
  LaneOperands operands_;
  // Operands that the round being emitted has read.
  std::set<size_t> read_;
};

}  // namespace fxjit::jit
