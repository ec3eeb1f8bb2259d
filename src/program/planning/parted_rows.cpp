// Rows that are cut into pieces for threads: a step for each pass of the row
// step that there would be, which reads what the passes before reduced each
// piece to.
#include <algorithm>
#include <utility>

#include "src/program/columns/as_rows.h"
#include "src/program/planning/builder.h"
#include "src/program/planning/pieces.h"
#include "src/program/planning/row_parts.h"
#include "src/program/rows/code.h"
#include "src/program/rows/rewrite.h"

namespace fxjit::program {
namespace {

Access access_of(DType type, const Dims& outer, int64_t inner) {
  Access access;
  access.dtype = type;
  access.outer = outer;
  access.inner = inner;
  return access;
}

class PartedRows {
 public:
  PartedRows(PlanBuilder& builder, RowStep step, std::vector<OperandRef> refs,
             const RegionCall& call, int64_t pieces, bool columns)
      : builder_(builder),
        step_(std::move(step)),
        refs_(std::move(refs)),
        call_(call),
        pieces_(pieces),
        columns_(columns),
        aside_(columns || std::ranges::any_of(step_.inputs, lies_crosswise) ||
               std::ranges::any_of(step_.outputs, lies_crosswise)),
        parts_(step_, refs_, schedule_, pieces) {
    rewrite_body(step_);
    RowStep along = step_;
    read_along(along);
    schedule_ = schedule_rows(along);
    keep_in_results(along, schedule_);
  }

  void add() {
    const size_t first = builder_.program().steps.size();
    place_buffers();
    for (size_t pass = 0; pass < schedule_.passes.size(); ++pass)
      add_pass(pass);
    add_row_stores();
    number_steps(first);
  }

 private:
  // The steps from `first` on say which of them they are.
  void number_steps(size_t first) {
    std::vector<Step>& steps = builder_.program().steps;
    const std::string count = std::to_string(steps.size() - first);
    for (size_t s = first; s < steps.size(); ++s)
      steps[s].label +=
          " (" + std::to_string(s - first + 1) + " of " + count + ")";
  }

  const ScalarInstr& instr(int32_t id) const {
    return step_.body.instrs[static_cast<size_t>(id)];
  }

  // Row buffers that are in no result are as large as all rows.
  void place_buffers() {
    const int64_t inner_stride = aside_ ? step_.outer.back() : Size(1);
    for (const RowSchedule::Buffer& buffer : schedule_.buffers) {
      if (buffer.result >= 0) {
        parts_.keep_in(buffer.id, result(buffer.result));
        continue;
      }
      Dims sizes = step_.outer;
      sizes.insert(aside_ ? sizes.size() - 1 : sizes.size(), step_.inner);
      Dims strides = contiguous_strides(sizes);
      strides.erase(aside_ ? sizes.size() - 2 : sizes.size() - 1);
      const DType type = instr(buffer.id).type;
      parts_.keep_in(buffer.id,
                     {builder_.allocate(Tensor::meta(sizes, type)).ref(),
                      access_of(type, strides, inner_stride)});
    }
  }

  PartOperand result(int32_t r) const {
    const auto at = static_cast<size_t>(r);
    return {refs_[step_.inputs.size() + at], step_.outputs[at]};
  }

  void add_pass(size_t at) {
    const auto pass = static_cast<int32_t>(at);
    const RowSchedule::Pass& work = schedule_.passes[at];
    std::vector<int32_t> roots = work.buffers;
    for (int32_t r : work.stores) roots.push_back(stored(r));
    for (int32_t id : work.reductions) roots.push_back(instr(id).args[0]);
    add_constants(roots, pass);
    RowPart part = parts_.compute(roots, pass);
    for (int32_t id : work.buffers)
      part.write(parts_.kept(id), part.made.at(id));
    for (int32_t r : work.stores)
      part.write(result(r), part.made.at(stored(r)));
    for (int32_t id : work.reductions) {
      ScalarInstr reduced = instr(id);
      reduced.args[0] = part.made.at(reduced.args[0]);
      const PartOperand pieces = place_rows(reduced.type, pieces_);
      part.write(pieces, parts_.push_as(part, id, reduced));
      parts_.reduced_to(id, pieces);
    }
    add_step(std::move(part), true, !work.reductions.empty());
  }

  // Computes the constants of rows that the pass begins with.
  void add_constants(const std::vector<int32_t>& roots, int32_t pass) {
    const std::vector<int32_t> fresh = parts_.missing_constants(roots, pass);
    if (fresh.empty()) return;
    RowPart part = parts_.compute(fresh, RowParts::kConstants);
    for (int32_t id : fresh) {
      const PartOperand rows = place_rows(instr(id).type, 1);
      part.write(rows, part.made.at(id));
      parts_.constant_in(id, rows);
    }
    add_step(std::move(part), false, false);
  }

  // Writes the results that have one element for each row.
  void add_row_stores() {
    if (schedule_.row_stores.empty()) return;
    std::vector<int32_t> roots;
    for (int32_t r : schedule_.row_stores) roots.push_back(stored(r));
    RowPart part = parts_.compute(roots, RowParts::kConstants);
    for (int32_t r : schedule_.row_stores)
      part.write(result(r), part.made.at(stored(r)));
    add_step(std::move(part), false, false);
  }

  int32_t stored(int32_t r) const {
    return step_.body.results[static_cast<size_t>(r)];
  }

  // So many elements for each row, one of all rows after the other.
  PartOperand place_rows(DType type, int64_t count) {
    Dims sizes = step_.outer;
    sizes.insert(0, count);
    return {builder_.allocate(Tensor::meta(sizes, type)).ref(),
            access_of(type, contiguous_strides(step_.outer), 0),
            count > 1 ? numel(step_.outer) : Size(0)};
  }

  // `cut`: the step's elements are those of the rows' pieces. Where nothing is
  // reduced, neighbours are walked as rows are.
  void add_step(RowPart part, bool cut, bool reduces) {
    RowStep step;
    step.body = std::move(part.body);
    step.softmax = std::move(part.softmax);
    step.outer = step_.outer;
    step.inner = cut ? step_.inner / pieces_ : 1;
    const int at = step.outer.size() - (aside_ ? 1 : 0);
    if (cut) step.outer.insert(at, pieces_);
    std::vector<OperandRef> refs;
    const auto add = [&](const PartOperand& operand,
                         std::vector<Access>& accesses) {
      Access access = operand.access;
      if (cut)
        access.outer.insert(at, access.inner != 0 ? access.inner * step.inner
                                                  : operand.piece_stride);
      accesses.push_back(std::move(access));
      refs.push_back(operand.ref);
    };
    for (const PartOperand& operand : part.inputs) add(operand, step.inputs);
    for (const PartOperand& operand : part.outputs) add(operand, step.outputs);
    if (columns_ && reduces)
      return builder_.add_step(to_columns(step), std::move(refs), call_);
    if (!reduces && !step.outer.empty() && (aside_ || !cut)) turn(step);
    builder_.add_step(std::move(step), std::move(refs), call_);
  }

  // Swaps the row with the last outer dim.
  static void turn(RowStep& step) {
    const int last = step.outer.size() - 1;
    const auto exchange = [last](int64_t& inner, Dims& outer) {
      inner = std::exchange(outer[last], inner);
    };
    exchange(step.inner, step.outer);
    for (std::vector<Access>* accesses : {&step.inputs, &step.outputs})
      for (Access& access : *accesses) exchange(access.inner, access.outer);
  }

  PlanBuilder& builder_;
  RowStep step_;
  std::vector<OperandRef> refs_;
  const RegionCall& call_;
  int64_t pieces_;
  bool columns_;
  bool aside_;  // Neighbouring rows, not elements, lie together.
  RowSchedule schedule_;
  RowParts parts_;
};

}  // namespace

void add_rows(PlanBuilder& builder, RowStep step,
              std::vector<OperandRef> operands, const RegionCall& call) {
  const int64_t pieces = row_pieces(step, builder.options().machine);
  if (pieces == 1)
    return builder.add_step(std::move(step), std::move(operands), call);
  PartedRows(builder, std::move(step), std::move(operands), call, pieces, false)
      .add();
}

void add_columns(PlanBuilder& builder, ColumnStep step,
                 std::vector<OperandRef> operands, const RegionCall& call) {
  const int64_t pieces = builder.options().strict_sums
                             ? 1
                             : column_pieces(step, builder.options().machine);
  if (pieces == 1)
    return builder.add_step(std::move(step), std::move(operands), call);
  PartedRows(builder, to_rows(std::move(step)), std::move(operands), call,
             pieces, true)
      .add();
}

}  // namespace fxjit::program
