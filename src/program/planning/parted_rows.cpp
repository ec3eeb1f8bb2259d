// Rows that are cut into pieces for threads: a step for each pass of the row
// step that there would be, which reads what the passes before reduced each
// piece to.
#include <algorithm>
#include <map>

#include "src/program/columns/as_rows.h"
#include "src/program/planning/builder.h"
#include "src/program/rows/code.h"
#include "src/program/rows/pieces.h"
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
               std::ranges::any_of(step_.outputs, lies_crosswise)) {
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
  struct Operand {
    OperandRef ref;
    Access access;  // As the step's, not yet cut.
    // Of what a piece was reduced to, which has a place for each.
    int64_t piece_stride = 0;
  };

  // A step that computes some instructions of the body.
  struct Part {
    ScalarBody body;
    std::map<int32_t, int32_t> made;  // Its instruction by the step's.
    std::vector<Operand> inputs, outputs;
    std::vector<int32_t> softmax;  // RowStep::softmax.

    int32_t push(ScalarInstr instr) {
      body.instrs.push_back(instr);
      return static_cast<int32_t>(body.instrs.size()) - 1;
    }
    int32_t read(Operand operand, DType type) {
      inputs.push_back(std::move(operand));
      return push({.prim = Prim::input,
                   .type = type,
                   .slot = static_cast<int32_t>(inputs.size()) - 1});
    }
    void write(Operand operand, int32_t id) {
      outputs.push_back(std::move(operand));
      body.results.push_back(id);
    }
  };

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
    const int64_t inner_stride = aside_ ? step_.outer.back() : 1;
    for (const RowSchedule::Buffer& buffer : schedule_.buffers) {
      if (buffer.result >= 0) {
        buffers_[buffer.id] = result(buffer.result);
        continue;
      }
      Dims sizes = step_.outer;
      sizes.insert(aside_ ? sizes.size() - 1 : sizes.size(), step_.inner);
      Dims strides = contiguous_strides(sizes);
      strides.erase(aside_ ? sizes.size() - 2 : sizes.size() - 1);
      const DType type = instr(buffer.id).type;
      buffers_[buffer.id] = {builder_.allocate(Tensor::meta(sizes, type)).ref(),
                             access_of(type, strides, inner_stride)};
    }
  }

  Operand result(int32_t r) const {
    const auto at = static_cast<size_t>(r);
    return {refs_[step_.inputs.size() + at], step_.outputs[at]};
  }

  bool is_kept(int32_t id, int32_t pass) const {
    return schedule_.buffered[static_cast<size_t>(id)] &&
           schedule_.level[static_cast<size_t>(id)] < pass;
  }

  // Whether every row has one such value, which takes operations.
  bool is_constant(int32_t id) const {
    const Prim prim = instr(id).prim;
    return prim != Prim::input && prim != Prim::constant &&
           !schedule_.varies[static_cast<size_t>(id)];
  }

  // What a pass, or kConstants, computes or finds in memory for `roots`.
  std::vector<bool> find_needed(const std::vector<int32_t>& roots,
                                int32_t pass) const {
    std::vector<bool> needed(step_.body.instrs.size());
    for (int32_t id : roots) needed[static_cast<size_t>(id)] = true;
    for (size_t i = needed.size(); i-- > 0;) {
      const auto id = static_cast<int32_t>(i);
      if (!needed[i] || is_leaf(id, pass)) continue;
      for (int a = 0; a < prim_arity(instr(id).prim); ++a)
        needed[static_cast<size_t>(instr(id).args[static_cast<size_t>(a)])] =
            true;
    }
    return needed;
  }

  // Whether a pass finds the value in memory. kConstants: what computes those.
  static constexpr int32_t kConstants = -1;
  bool is_leaf(int32_t id, int32_t pass) const {
    if (pass == kConstants)
      return is_reduction(instr(id).prim) || constants_.contains(id);
    return is_kept(id, pass) || is_constant(id);
  }

  // Adds what `roots` need, of what the part does not find in memory.
  void compute(Part& part, const std::vector<int32_t>& roots, int32_t pass) {
    const std::vector<bool> needed = find_needed(roots, pass);
    for (size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) {
        const auto id = static_cast<int32_t>(i);
        part.made[id] = make(part, id, pass);
      }
  }

  int32_t make(Part& part, int32_t id, int32_t pass) const {
    ScalarInstr made = instr(id);
    if (const auto known = constants_.find(id); known != constants_.end())
      return part.read(known->second, made.type);
    if (is_reduction(made.prim)) return combine(part, id);
    if (is_kept(id, pass)) return part.read(buffers_.at(id), made.type);
    if (made.prim == Prim::input) {
      const auto slot = static_cast<size_t>(made.slot);
      return part.read({refs_[slot], step_.inputs[slot]}, made.type);
    }
    for (int32_t& arg : made.args)
      if (arg >= 0) arg = part.made.at(arg);
    return push_as(part, id, made);
  }

  // Adds an instruction that takes the place of the step's `id`.
  int32_t push_as(Part& part, int32_t id, const ScalarInstr& made) const {
    const int32_t added = part.push(made);
    if (schedule_.softmax[static_cast<size_t>(id)])
      part.softmax.push_back(added);
    return added;
  }

  // What the row was reduced to, from its pieces.
  int32_t combine(Part& part, int32_t id) const {
    const DType type = instr(id).type;
    const Operand& partial = partials_.at(id);
    int32_t all = -1;
    for (int64_t piece = 0; piece < pieces_; ++piece) {
      Operand one = partial;
      one.ref.byte_offset +=
          piece * partial.piece_stride * static_cast<int64_t>(dtype_size(type));
      one.piece_stride = 0;
      const int32_t read = part.read(std::move(one), type);
      all = piece == 0 ? read
                       : part.push({.prim = *combination(instr(id).prim),
                                    .type = type,
                                    .args = {all, read, -1}});
    }
    return all;
  }

  void add_pass(size_t at) {
    const auto pass = static_cast<int32_t>(at);
    const RowSchedule::Pass& work = schedule_.passes[at];
    std::vector<int32_t> roots = work.buffers;
    for (int32_t r : work.stores) roots.push_back(stored(r));
    for (int32_t id : work.reductions) roots.push_back(instr(id).args[0]);
    add_constants(roots, pass);
    Part part;
    compute(part, roots, pass);
    for (int32_t id : work.buffers)
      part.write(buffers_.at(id), part.made.at(id));
    for (int32_t r : work.stores)
      part.write(result(r), part.made.at(stored(r)));
    for (int32_t id : work.reductions) {
      ScalarInstr reduced = instr(id);
      reduced.args[0] = part.made.at(reduced.args[0]);
      part.write(partials_[id] = place_rows(reduced.type, pieces_),
                 push_as(part, id, reduced));
    }
    add_step(std::move(part), true, !work.reductions.empty());
  }

  // Computes the constants of rows that the pass begins with.
  void add_constants(const std::vector<int32_t>& roots, int32_t pass) {
    const std::vector<bool> needed = find_needed(roots, pass);
    std::vector<int32_t> fresh;
    for (size_t i = 0; i < needed.size(); ++i) {
      const auto id = static_cast<int32_t>(i);
      if (needed[i] && is_constant(id) && !constants_.contains(id))
        fresh.push_back(id);
    }
    if (fresh.empty()) return;
    Part part;
    compute(part, fresh, kConstants);
    for (int32_t id : fresh)
      part.write(constants_[id] = place_rows(instr(id).type, 1),
                 part.made.at(id));
    add_step(std::move(part), false, false);
  }

  // Writes the results that have one element for each row.
  void add_row_stores() {
    if (schedule_.row_stores.empty()) return;
    std::vector<int32_t> roots;
    for (int32_t r : schedule_.row_stores) roots.push_back(stored(r));
    Part part;
    compute(part, roots, kConstants);
    for (int32_t r : schedule_.row_stores)
      part.write(result(r), part.made.at(stored(r)));
    add_step(std::move(part), false, false);
  }

  int32_t stored(int32_t r) const {
    return step_.body.results[static_cast<size_t>(r)];
  }

  // So many elements for each row, one of all rows after the other.
  Operand place_rows(DType type, int64_t count) {
    Dims sizes = step_.outer;
    sizes.insert(0, count);
    return {builder_.allocate(Tensor::meta(sizes, type)).ref(),
            access_of(type, contiguous_strides(step_.outer), 0),
            count > 1 ? numel(step_.outer) : 0};
  }

  // `cut`: the step's elements are those of the rows' pieces. Where nothing is
  // reduced, neighbours are walked as rows are.
  void add_step(Part part, bool cut, bool reduces) {
    RowStep step;
    step.body = std::move(part.body);
    step.softmax = std::move(part.softmax);
    step.outer = step_.outer;
    step.inner = cut ? step_.inner / pieces_ : 1;
    const int at = step.outer.size() - (aside_ ? 1 : 0);
    if (cut) step.outer.insert(at, pieces_);
    std::vector<OperandRef> refs;
    const auto add = [&](const Operand& operand,
                         std::vector<Access>& accesses) {
      Access access = operand.access;
      if (cut)
        access.outer.insert(at, access.inner != 0 ? access.inner * step.inner
                                                  : operand.piece_stride);
      accesses.push_back(std::move(access));
      refs.push_back(operand.ref);
    };
    for (const Operand& operand : part.inputs) add(operand, step.inputs);
    for (const Operand& operand : part.outputs) add(operand, step.outputs);
    if (columns_ && reduces)
      return builder_.add_step(to_columns(step), std::move(refs), call_);
    if (!reduces && !step.outer.empty() && (aside_ || !cut)) turn(step);
    builder_.add_step(std::move(step), std::move(refs), call_);
  }

  // Swaps the row with the last outer dim.
  static void turn(RowStep& step) {
    const int last = step.outer.size() - 1;
    std::swap(step.inner, step.outer[last]);
    for (std::vector<Access>* accesses : {&step.inputs, &step.outputs})
      for (Access& access : *accesses)
        std::swap(access.inner, access.outer[last]);
  }

  PlanBuilder& builder_;
  RowStep step_;
  std::vector<OperandRef> refs_;
  const RegionCall& call_;
  int64_t pieces_;
  bool columns_;
  bool aside_;  // Neighbouring rows, not elements, lie together.
  RowSchedule schedule_;
  // By instruction: what rows are kept in, what their pieces were reduced to,
  // and what all elements of a row read.
  std::map<int32_t, Operand> buffers_, partials_, constants_;
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
