#include "jit/emit/rows.h"

#include <algorithm>

#include "jit/emit/rows_pass.h"
#include "jit/emit/rows_shape.h"
#include "src/program/kernel_plan.h"

namespace fxjit::jit {
namespace {

class RowsEmitter {
 public:
  RowsEmitter(VectorBuilder& b, const program::RowStep& step)
      : b_(b),
        args_(b),
        step_(program::rewrite_rows(step)),
        schedule_(program::schedule_rows(step_)),
        facts_(step_.body) {}

  void run() {
    for (size_t i = 0; i < step_.inputs.size() + step_.outputs.size(); ++i) {
      operands_.push_back(args_.operand(i));
    }
    if (program::is_flat(step_)) {
      chunks();
    } else {
      b_.loop(args_.begin(), args_.end(), b_.i64(1),
              [&](Value* row) { one_row(row); });
    }
    b_.ret();
  }

 private:
  void chunks() {
    Row row = make_row({});
    emit_constants(row, 0);
    Value* chunk = b_.i64(program::kFlatChunk);
    Value* last = b_.ir().CreateBinaryIntrinsic(
        llvm::Intrinsic::smin, b_.mul(args_.end(), chunk),
        b_.i64(step_.inner));
    RowPass(b_, row, 0).chunks(b_.mul(args_.begin(), chunk), last);
    if (schedule_.row_stores.empty()) return;
    b_.if_then(b_.eq(args_.begin(), b_.i64(0)), [&] { store_constants(row); });
  }

  void one_row(Value* number) {
    outer_ = unravel(b_, number, step_.outer);
    Row row = make_row(outer_);
    if (is_short_row(b_, step_, schedule_)) {
      make_resident(row);
    } else {
      place_buffers(row);
    }
    const size_t passes = schedule_.passes.size();
    for (size_t pass = 0; pass < passes; ++pass) {
      emit_constants(row, int32_t(pass));
      const Values reduced = RowPass(b_, row, pass).whole_row();
      for (size_t r = 0; r < reduced.size(); ++r) {
        set_constant(row, schedule_.passes[pass].reductions[r], reduced[r]);
      }
    }
    emit_constants(row, int32_t(passes));
    store_constants(row);
  }

  Row make_row(const Values& outer) {
    const size_t n = step_.body.instrs.size();
    Row row{step_, schedule_, facts_, {}, {}, {}, {}, {}};
    row.constants.resize(n);
    row.splats.resize(n);
    row.buffers.resize(n);
    for (size_t i = 0; i < operands_.size(); ++i) {
      const program::Access& access = access_of(i);
      row.operands.push_back(
          point_address(b_, operands_[i], access.dtype, access.outer, outer));
    }
    const Values plain = row.operands;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const program::Access& access = access_of(i);
      if (access.gather_slot < 0) continue;
      const auto slot = size_t(access.gather_slot);
      const DType index_dtype = step_.inputs[slot].dtype;
      Value* index = b_.load_scalar(index_dtype, plain[slot]);
      row.operands[i] =
          gathered_address(b_, args_, plain[i], access, index, index_dtype);
    }
    return row;
  }

  const program::Access& access_of(size_t operand) const {
    const size_t inputs = step_.inputs.size();
    return operand < inputs ? step_.inputs[operand]
                            : step_.outputs[operand - inputs];
  }

  // Each vector of the row keeps its values from its first pass to its last.
  void make_resident(Row& row) {
    const int64_t lanes = b_.lanes();
    for (int64_t first = 0; first < step_.inner; first += lanes) {
      const int64_t active = std::min(lanes, step_.inner - first);
      row.resident.push_back(row_values(
          b_, row, {b_.i64(first), int(lanes), int(active)}, /*pass=*/0));
    }
  }

  void place_buffers(Row& row) {
    if (schedule_.buffer_ids.empty()) return;
    Value* scratch = args_.scratch();
    for (size_t i = 0; i < schedule_.buffer_ids.size(); ++i) {
      row.buffers[size_t(schedule_.buffer_ids[i])] =
          b_.offset_bytes(scratch, int64_t(schedule_.buffer_offsets[i]));
    }
  }

  void set_constant(Row& row, int32_t id, Value* scalar) {
    row.constants[size_t(id)] = scalar;
    row.splats[size_t(id)] = b_.splat(scalar);
  }

  // Row constants that are first known after `level` passes. What is not used
  // LLVM drops again.
  void emit_constants(Row& row, int32_t level) {
    BodyValues values(
        b_, step_.body, /*lanes=*/1,
        [&](BodyValues&, int32_t id) { return known_constant(row, id); });
    for (size_t i = 0; i < step_.body.instrs.size(); ++i) {
      const ScalarInstr& instr = step_.body.instrs[i];
      if (schedule_.varies[i] || schedule_.level[i] != level) continue;
      // Constants are constants in vectors as well.
      if (is_reduction(instr.prim) || instr.prim == Prim::constant) continue;
      set_constant(row, int32_t(i), values.get(int32_t(i)));
    }
  }

  Value* known_constant(const Row& row, int32_t id) {
    const ScalarInstr& instr = step_.body.instrs[size_t(id)];
    if (instr.prim == Prim::index) return outer_[size_t(instr.slot)];
    if (instr.prim != Prim::input) return row.constants[size_t(id)];
    const DType dtype = step_.inputs[size_t(instr.slot)].dtype;
    Value* loaded = b_.load_scalar(dtype, row.operands[size_t(instr.slot)]);
    return convert_computed(b_, loaded, dtype, instr.type);
  }

  void store_constants(const Row& row) {
    BodyValues values(
        b_, step_.body, /*lanes=*/1,
        [&](BodyValues&, int32_t id) { return row.constants[size_t(id)]; });
    for (int32_t r : schedule_.row_stores) {
      const DType dtype = step_.outputs[size_t(r)].dtype;
      b_.store(dtype, values.result(size_t(r), dtype),
               row.operands[step_.inputs.size() + size_t(r)]);
    }
  }

  VectorBuilder& b_;
  KernelArgs args_;
  program::RowStep step_;
  program::RowSchedule schedule_;
  program::BodyFacts facts_;
  Values operands_;
  Values outer_;
};

}  // namespace

void emit_rows(VectorBuilder& b, const program::RowStep& step) {
  RowsEmitter(b, step).run();
}

}  // namespace fxjit::jit
