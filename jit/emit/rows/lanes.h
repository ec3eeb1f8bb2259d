// Row steps of which neighbouring rows, not neighbouring elements, lie
// together: a group of rows is computed at once, each row in lanes of its own.
// Reductions are one operation for each vector, and nothing is turned. Used by
// the row skeleton only.
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

  // `vectors` vectors of rows, or of rounds if rows share them; `operands` are
  // the first row's elements, `outer` its place. `active`: how many rows there
  // are in a single vector, null for all.
  void run(const Values& operands, const Values& outer, int vectors,
           Value* active = nullptr);

 private:
  struct Group;

  Values pass(Group& group, size_t number);
  Values whole_rounds(Group& group, size_t number, const Values& nothing);
  Values stretch(Group& group, size_t number, Value* first, Value* end,
                 const Values& nothing);
  int64_t chains_of(size_t number) const;
  // Whether a pass goes from the last round to the first.
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
  // The operand that is a result.
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
  std::set<size_t> read_;  // Operands that the present round read.
};

}  // namespace fxjit::jit
