// Parts of a row step's body: what one of several steps computes, and what it
// reads that steps before it wrote.
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
  Access access;  // As the step's, whose rows are whole.
  // Elements from piece to piece of what each was reduced to; 0: it has no
  // place for each.
  int64_t piece_stride = 0;
};

// A step that computes some instructions of the body.
struct RowPart {
  ScalarBody body;
  std::map<int32_t, int32_t> made;  // Its instruction by the step's.
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

// Makes parts of a step whose rows are cut into pieces. What a part leaves in
// memory for later ones is told it by keep_in, reduced_to and constant_in.
class RowParts {
 public:
  // What computes constants of rows, in place of a pass.
  static constexpr int32_t kConstants = -1;

  // `operands`: of the step, inputs first; `schedule`: of its body.
  RowParts(const RowStep& step, const std::vector<OperandRef>& operands,
           const RowSchedule& schedule, int64_t pieces)
      : step_(step),
        operands_(operands),
        schedule_(schedule),
        pieces_(pieces) {}

  // What computes `roots` in a pass, or kConstants.
  RowPart compute(const std::vector<int32_t>& roots, int32_t pass) const;
  // Values that `roots` need in a pass, that are the same for all elements of a
  // row, and that no part has computed.
  std::vector<int32_t> missing_constants(const std::vector<int32_t>& roots,
                                         int32_t pass) const;
  // Adds an instruction that takes the place of the step's `id`.
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
  // By instruction: what rows are kept in, what their pieces were reduced to,
  // and what all elements of a row read.
  std::map<int32_t, PartOperand> kept_, reduced_, constants_;
};

}  // namespace fxjit::program
