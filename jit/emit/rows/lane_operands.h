// Reads and writes the operands and row buffers of rows that are computed side
// by side: it knows which row and which position each lane holds
// (program::LaneGroup). Used by LaneRows only.
#pragma once

#include "jit/emit/access.h"
#include "jit/emit/kernel_function.h"
#include "src/program/rows/form.h"

namespace fxjit::jit {

// The group of neighbouring rows that is worked on.
struct LaneGroupPlace {
  // For each operand, the first element of the group's first row.
  const Values& operands;
  // The position of the first row along each outer dim.
  const Values& outer;
  // The lanes that hold a row, if the group is a single vector that is not
  // full; null if all do.
  Value* mask;
};

// One vector of one round.
struct LaneSpot {
  Value* round;  // Null for what is constant along rows.
  int vector;
  // Set for the last round if it has fewer positions of each row than the
  // others.
  bool is_rest = false;
};

class LaneOperands {
 public:
  LaneOperands(VectorBuilder& b, const program::RowForm& form,
               const StepArguments& arguments);

  int64_t whole_rounds() const { return inner_ / group_.positions; }
  bool has_rest() const { return inner_ % group_.positions != 0; }
  int vectors() const { return int(group_.elements / b_.lanes()); }
  // The vectors of the last, smaller round that hold any element.
  int vectors_of_rest() const;

  // The value of an input or an index instruction.
  Value* leaf(const LaneGroupPlace& group, const ScalarInstr& instr,
              LaneSpot spot);
  void store(const LaneGroupPlace& group, size_t result, Value* value,
             LaneSpot spot);
  // Prefetches the cache lines in which `vectors` vectors of a position begin.
  // `first` is the first of these vectors.
  void prefetch(const LaneGroupPlace& group, size_t operand, LaneSpot first,
                int vectors);
  // Read and write the value of instruction `id` in its row buffer.
  Value* kept(const LaneGroupPlace& group, int32_t id, LaneSpot spot);
  void keep(const LaneGroupPlace& group, int32_t id, Value* value,
            LaneSpot spot);
  // The lanes that hold an element; null if all do.
  Value* mask(const LaneGroupPlace& group, LaneSpot spot);

  // Combines the lanes of each row, over all vectors of a round, by `combine`,
  // and gives the vectors with the result in all lanes of its row.
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
