// A row step may be cut into several steps, one for each pass over its rows, so
// that threads share long rows (parted_rows.cpp). RowParts computes which
// instructions of the step's body such a part has, and what it reads that
// earlier parts wrote.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "src/program/rows/schedule.h"
#include "src/program/rows/step.h"
#include "src/program/steps/program.h"

namespace fxjit::program {

struct PartOperand {
  OperandRef ref;
  // As in the step that is cut, the access is over whole rows.
  Access access;
  // If not 0, the operand holds one partial result for each piece of a row,
  // this many elements apart.
  int64_t piece_stride = 0;
};

// One of the steps that a row step is cut into. It computes some instructions
// of that step's body.
struct RowPart {
  ScalarBody body;
  // The part's instruction for each instruction of the step's body that it has.
  std::map<int32_t, int32_t> made;
  std::vector<PartOperand> inputs, outputs;
  std::vector<int32_t> softmax;  // RowStep::softmax.

  int32_t push(ScalarInstr instr) {
    body.instrs.push_back(instr);
    return static_cast<int32_t>(body.instrs.size()) - 1;
  }
  int32_t read(PartOperand operand, DType type) {
    inputs.push_back(std::move(operand));
    return push({.prim = Prim::input,
                 .type = type,
                 .slot = static_cast<int32_t>(inputs.size()) - 1});
  }
  void write(PartOperand operand, int32_t id) {
    outputs.push_back(std::move(operand));
    body.results.push_back(id);
  }
};

// Makes the parts of a step whose rows are cut into `pieces` pieces. The caller
// makes them in order, and tells by keep_in, reduced_to and constant_in where a
// part leaves values in memory for later ones.
class RowParts {
 public:
  // Given as `pass` for the part that computes values which are constant along
  // rows, between two passes.
  static constexpr int32_t kConstants = -1;

  // `operands` are those of the step, inputs first; `schedule` is that of its
  // body. All three must outlive this object.
  RowParts(const RowStep& step, const std::vector<OperandRef>& operands,
           const RowSchedule& schedule, int64_t pieces)
      : step_(step),
        operands_(operands),
        schedule_(schedule),
        pieces_(pieces) {}

  // The part that computes the instructions `roots` in pass `pass`, or
  // kConstants.
  RowPart compute(const std::vector<int32_t>& roots, int32_t pass) const;
  // The values that `roots` need in a pass, that are constant along the row,
  // and that no earlier part has computed.
  std::vector<int32_t> missing_constants(const std::vector<int32_t>& roots,
                                         int32_t pass) const;
  // Adds `made` to the part as the instruction that stands for the step's `id`,
  // and returns its number.
  int32_t push_as(RowPart& part, int32_t id, const ScalarInstr& made) const;

  void keep_in(int32_t id, PartOperand rows) { kept_[id] = std::move(rows); }
  void reduced_to(int32_t id, PartOperand pieces) {
    reduced_[id] = std::move(pieces);
  }
  void constant_in(int32_t id, PartOperand rows) {
    constants_[id] = std::move(rows);
  }
  const PartOperand& kept(int32_t id) const { return kept_.at(id); }

 private:
  const ScalarInstr& instr(int32_t id) const {
    return step_.body.instrs[static_cast<size_t>(id)];
  }
  bool is_kept(int32_t id, int32_t pass) const;
  bool is_constant(int32_t id) const;
  bool is_leaf(int32_t id, int32_t pass) const;
  std::vector<bool> find_needed(const std::vector<int32_t>& roots,
                                int32_t pass) const;
  int32_t make(RowPart& part, int32_t id, int32_t pass) const;
  int32_t combine(RowPart& part, int32_t id) const;

  const RowStep& step_;
  const std::vector<OperandRef>& operands_;
  const RowSchedule& schedule_;
  int64_t pieces_;
  // Where earlier parts left the values of an instruction, by its number: all
  // elements of each row, one partial result for each piece, or one value for
  // each row.
  std::map<int32_t, PartOperand> kept_, reduced_, constants_;
};

}  // namespace fxjit::program
