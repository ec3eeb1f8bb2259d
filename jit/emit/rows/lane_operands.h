// Where rows that are computed side by side find their values: which row and
// which position each lane holds (see program::LaneGroup), and how operands and
// row buffers are read and written so. Used by LaneRows only.
#pragma once

#include "jit/emit/access.h"
#include "jit/emit/kernel_function.h"
#include "src/program/rows/form.h"

namespace fxjit::jit {

// A group of neighbours along the last outer dim.
struct LaneGroupPlace {
  const Values& operands;  // Their first row's elements.
  const Values& outer;     // Its place.
  Value* mask;  // Lanes of a single vector that hold a row; null: all.
};

// A vector of a round.
struct LaneSpot {
  Value* round;  // Null for what is constant along rows.
  int vector;
  bool is_rest = false;  // The round of what is left of each row's positions.
};

class LaneOperands {
 public:
  LaneOperands(VectorBuilder& b, const program::RowForm& form,
               const StepArguments& arguments);

  int64_t whole_rounds() const { return inner_ / group_.positions; }
  bool has_rest() const { return inner_ % group_.positions != 0; }
  int vectors() const { return int(group_.elements / b_.lanes()); }
  // Vectors of the last round that hold anything.
  int vectors_of_rest() const;

  // An input or an index, as the instruction's type.
  Value* leaf(const LaneGroupPlace& group, const ScalarInstr& instr,
              LaneSpot spot);
  void store(const LaneGroupPlace& group, size_t result, Value* value,
             LaneSpot spot);
  // Asks for the lines that `vectors` vectors of a position begin in, of which
  // `first` is the first.
  void prefetch(const LaneGroupPlace& group, size_t operand, LaneSpot first,
                int vectors);
  // A value that a row buffer keeps for later passes.
  Value* kept(const LaneGroupPlace& group, int32_t id, LaneSpot spot);
  void keep(const LaneGroupPlace& group, int32_t id, Value* value,
            LaneSpot spot);
  // Lanes that hold an element; null: all.
  Value* mask(const LaneGroupPlace& group, LaneSpot spot);

  // The vectors of a round in which each row's lanes hold what `combine` makes
  // of all of them.
  Values met(const Values& vectors,
             llvm::function_ref<Value*(Value*, Value*)> combine);

 private:
  Value* load(const LaneGroupPlace& group, size_t operand, LaneSpot spot);
  Value* element(const LaneGroupPlace& group, size_t operand, LaneSpot spot);
  Value* in_scratch(const program::RowSchedule::Buffer& buffer, LaneSpot spot);
  DType type_of(int32_t id) const { return body_.instrs[size_t(id)].type; }
  Values load_few(DType dtype, Value* from, int64_t count);
  Value* first_lanes(int64_t count);
  Value* pick(const Values& from, llvm::function_ref<int64_t(int64_t)> index);
  Value* lane_numbers(llvm::function_ref<int64_t(int64_t)> number);
  int64_t positions_of(LaneSpot spot) const;

  VectorBuilder& b_;
  const program::LoopForm& loops_;
  const ScalarBody& body_;
  const program::RowCode& code_;
  const program::LaneGroup& group_;
  const StepArguments& arguments_;
  int64_t inner_;
};

}  // namespace fxjit::jit
