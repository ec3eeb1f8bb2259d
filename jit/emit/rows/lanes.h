// Row steps of which neighbouring rows, not neighbouring elements, lie
// together: a group of rows is computed at once, one row to a lane. Reductions
// are one operation for each element, and nothing is turned. Used by the row
// skeleton only.
#pragma once

#include "jit/emit/access.h"
#include "jit/emit/body.h"
#include "src/program/rows/form.h"
#include "src/program/rows/rewrite.h"

namespace fxjit::jit {

// Neighbours along the last outer dim.
class LaneRows {
 public:
  LaneRows(VectorBuilder& b, const program::RowForm& form,
           const StepArguments& arguments);

  // `vectors` vectors of rows; `operands` are the first row's elements, `outer`
  // its place. `active`: how many rows there are in a single vector, null for
  // all.
  void run(const Values& operands, const Values& outer, int vectors,
           Value* active = nullptr);

 private:
  struct Group;

  Values pass(Group& group, size_t number);
  int64_t chains_of(size_t number) const;
  Values joined(const Values& sums, size_t number, int64_t chains);
  // A vector of rows at a position.
  struct Spot {
    Value* position;  // Null for what is constant along rows.
    int vector;
  };
  BodyValues values_at(Group& group, size_t number, Spot spot);
  Values position(Group& group, size_t number, Value* at,
                  const Values& accumulators);
  void emit_constants(Group& group, int32_t level);
  void store_constants(Group& group);
  Value* leaf(const Group& group, const ScalarInstr& instr, Spot spot);
  Value* load(const Group& group, size_t operand, Spot spot);
  void store(const Group& group, size_t result, Value* value, Spot spot);
  Value* element(const Group& group, size_t operand, Spot spot);
  Value* buffer(int32_t id, Spot spot);

  VectorBuilder& b_;
  const program::RowForm& form_;
  const program::LoopForm& loops_;
  const program::RowCode& code_;
  const ScalarBody& body_;
  const program::RowSchedule& schedule_;
  const StepArguments& arguments_;
  program::BodyFacts facts_;
};

}  // namespace fxjit::jit
