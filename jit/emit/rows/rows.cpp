#include <algorithm>
#include <map>

#include "jit/emit/rows/crosswise.h"
#include "jit/emit/rows/lanes.h"
#include "jit/emit/rows/pass.h"
#include "jit/emit/rows/shape.h"
#include "jit/emit/skeletons.h"
#include "src/program/rows/step.h"

namespace fxjit::jit {
namespace {

class RowsEmitter {
 public:
  RowsEmitter(VectorBuilder& b, const program::RowForm& form)
      : b_(b),
        args_(b),
        form_(form),
        loops_(form.loops),
        code_(form.code),
        body_(form.body),
        schedule_(code_.schedule),
        arguments_(b, form.loops) {}

  void run() {
    for (size_t i = 0; i < loops_.operands(); ++i) {
      operands_.push_back(args_.operand(i));
    }
    if (code_.flat) {
      chunks();
    } else if (code_.lanes.takes_all()) {
      all_neighbours();
    } else if (!code_.lanes.empty()) {
      lanes();
    } else if (code_.crosswise.empty()) {
      runs();
    } else {
      groups();
    }
    b_.ret();
  }

 private:
  void chunks() {
    Row row = make_row(addresses());
    emit_constants(row, 0);
    Value* chunk = b_.i64(program::kFlatChunk);
    Value* last = b_.min(b_.mul(args_.end(), chunk), arguments_.inner);
    RowPass(b_, row, 0).chunks(b_.mul(args_.begin(), chunk), last);
    if (schedule_.row_stores.empty()) return;
    b_.if_then(b_.eq(args_.begin(), b_.i64(0)), [&] { store_constants(row); });
  }

  // Computes runs of rows that differ in the last outer dim alone, so that the
  // position of a row is divided out once for each run.
  void runs() {
    b_.loop_by(args_.begin(), args_.end(), [&](Value* number) {
      outer_ = unravel(b_, number, arguments_.outer);
      Value* rows = neighbours(b_.sub(args_.end(), number));
      const int64_t together = outer_.empty() ? 1 : rows_by_turns(b_, form_);
      if (together > 1) {
        rows = b_.min(rows, b_.i64(together));
        turns(rows, together);
        return rows;
      }
      Value* last = outer_.empty() ? nullptr : outer_.back();
      b_.loop(b_.i64(0), rows, b_.i64(1), [&](Value* row) {
        if (last) outer_.back() = b_.add(last, row);
        one_row(addresses());
      });
      return rows;
    });
  }

  // Computes `rows` rows, at most `most`, from outer_ on, each pass for all of
  // them.
  void turns(Value* rows, int64_t most) {
    const auto bytes = int64_t(schedule_.buffer_bytes);
    if (buffers_ == nullptr && bytes > 0)
      buffers_ =
          b_.stack_slot(llvm::ArrayType::get(b_.i8(), uint64_t(most * bytes)));
    Value* last = outer_.back();
    const auto each_row = [&](size_t pass, auto body) {
      b_.loop(b_.i64(0), rows, b_.i64(1), [&](Value* number) {
        outer_.back() = b_.add(last, number);
        Row row = make_row(addresses());
        place_buffers(row, bytes == 0
                               ? nullptr
                               : b_.offset_bytes(
                                     buffers_, b_.mul(number, b_.i64(bytes))));
        recall_constants(row, pass, number);
        body(row, number);
      });
    };
    const size_t passes = schedule_.passes.size();
    for (size_t pass = 0; pass < passes; ++pass)
      each_row(pass, [&](Row& row, Value* number) {
        const Values reduced = RowPass(b_, row, pass).whole_row();
        for (size_t r = 0; r < reduced.size(); ++r)
          keep_reduced(schedule_.passes[pass].reductions[r], reduced[r], number,
                       most);
      });
    if (!schedule_.row_stores.empty())
      each_row(passes, [&](Row& row, Value*) { store_constants(row); });
    outer_.back() = last;
  }

  // The results of a reduction, by row.
  struct Reduced {
    llvm::Type* type = nullptr;
    Value* rows = nullptr;
  };

  void keep_reduced(int32_t id, Value* result, Value* number, int64_t most) {
    Reduced& kept = reduced_[id];
    kept.type = result->getType();
    if (kept.rows == nullptr)
      kept.rows =
          b_.stack_slot(llvm::ArrayType::get(kept.type, uint64_t(most)));
    b_.store_raw(result, b_.offset(kept.rows, kept.type, number));
  }

  // The constants of a row that are known before pass number `pass`.
  void recall_constants(Row& row, size_t pass, Value* number) {
    for (size_t before = 0; before <= pass; ++before) {
      emit_constants(row, int32_t(before));
      if (before == pass) return;
      for (int32_t id : schedule_.passes[before].reductions) {
        const Reduced& kept = reduced_[id];
        Value* at = b_.offset(kept.rows, kept.type, number);
        set_constant(row, id, b_.load_raw(kept.type, at));
      }
    }
  }

  // Emits tasks that are all neighbouring rows together.
  void all_neighbours() {
    LaneRows group(b_, form_, arguments_);
    const int vectors = int(code_.lanes.elements / b_.lanes());
    b_.loop(args_.begin(), args_.end(), b_.i64(1), [&](Value* number) {
      Value* first = b_.mul(number, b_.i64(code_.lanes.rows));
      outer_ = unravel(b_, first, arguments_.outer);
      group.run(addresses(), outer_, vectors);
    });
  }

  // Emits tasks of one row each, computed in groups of neighbouring rows. If
  // more than half of a group is left at the end, the group begins earlier and
  // computes some rows a second time; the same holds for a single vector. If
  // fewer rows are left, or if a result may lie where an input does, single
  // vectors are computed, the last one under a mask.
  void lanes() {
    LaneRows group(b_, form_, arguments_);
    const int64_t together = code_.lanes.rows;
    Value* apart = writes_apart();
    b_.loop_by(args_.begin(), args_.end(), [&](Value* number) {
      outer_ = unravel(b_, number, arguments_.outer);
      Value* left = neighbours(b_.sub(args_.end(), number));
      Value* before = b_.min(outer_.back(), b_.sub(number, args_.begin()));
      before = b_.select(apart, before, b_.i64(0));
      Value* enough = b_.bit_and(b_.ge(b_.add(before, left), b_.i64(together)),
                                 b_.gt(left, b_.i64(together / 2)));
      return b_.if_else(
          enough,
          [&]() -> Values { return {whole_group(group, left, together)}; },
          [&]() -> Values { return {one_vector(group, before, left)}; })[0];
    });
  }

  // Computes one vector of rows. Below AVX-512 masked stores are slow, so a
  // full vector that computes rows twice is preferred.
  Value* one_vector(LaneRows& group, Value* before, Value* left) {
    const int64_t lanes = b_.lanes();
    const auto masked = [&]() -> Values {
      Value* rows = b_.min(left, b_.i64(lanes));
      group.run(addresses(), outer_, 1, rows);
      return {rows};
    };
    if (b_.level() == CpuLevel::avx512 || code_.lanes.rows == lanes)
      return masked()[0];
    return b_.if_else(
        b_.ge(b_.add(before, left), b_.i64(lanes)),
        [&]() -> Values { return {whole_group(group, left, lanes)}; },
        masked)[0];
  }

  // Computes a full group of `rows` rows that ends with the last of the `left`
  // rows, or earlier. Returns how many of the `left` rows are done.
  Value* whole_group(LaneRows& group, Value* left, int64_t rows) {
    Value* done = b_.min(left, b_.i64(rows));
    const Values place = outer_;
    outer_.back() = b_.sub(outer_.back(), b_.sub(b_.i64(rows), done));
    group.run(addresses(), outer_, int(rows / b_.lanes()));
    outer_ = place;
    return done;
  }

  // Whether no result lies where an input does, so that rows may be computed
  // twice.
  Value* writes_apart() {
    Value* apart = b_.ir().getTrue();
    for (size_t out = loops_.inputs.size(); out < operands_.size(); ++out)
      for (size_t in = 0; in < loops_.inputs.size(); ++in)
        apart = b_.bit_and(apart,
                           b_.ir().CreateICmpNE(operands_[in], operands_[out]));
    return apart;
  }

  // Emits groups of neighbouring rows with crosswise operands.
  void groups() {
    const RowSpan span(b_, arguments_.outer, code_.crosswise.span);
    b_.loop_by(args_.begin(), args_.end(), [&](Value* number) {
      outer_ = unravel(b_, number, arguments_.outer);
      Value* left = b_.min(b_.sub(args_.end(), number), span.left(outer_));
      Value* rows = b_.min(b_.i64(code_.crosswise.rows), left);
      group(span, rows);
      return rows;
    });
  }

  // How many of the `rows` rows from outer_ on differ from the first in the
  // last outer dim alone.
  Value* neighbours(Value* rows) {
    if (outer_.size() < 2) return rows;
    return b_.min(rows, b_.sub(arguments_.outer.back(), outer_.back()));
  }

  void group(const RowSpan& span, Value* rows) {
    const Values first = addresses();
    copy_crosswise(Direction::load, first, rows);
    Value* begin = span.place(outer_);
    b_.loop(b_.i64(0), rows, b_.i64(1), [&](Value* number) {
      span.go_to(b_.add(begin, number), outer_);
      Values row = addresses();
      for (const auto& operand : code_.crosswise.operands) {
        const DType dtype = loops_.access(operand.operand).dtype;
        row[operand.operand] =
            b_.offset(scratch(operand.offset), b_.memory_type(dtype),
                      b_.mul(number, b_.i64(code_.crosswise.pitch)));
      }
      one_row(row);
    });
    copy_crosswise(Direction::store, first, rows);
  }

  // Inputs to scratch, or outputs from it.
  void copy_crosswise(Direction direction, const Values& first, Value* rows) {
    for (const auto& [operand, offset] : code_.crosswise.operands) {
      const bool is_input = operand < loops_.inputs.size();
      if (is_input != (direction == Direction::load)) continue;
      emit_crosswise(
          b_, code_.crosswise,
          {loops_.access(operand).dtype, arguments_.accesses[operand].inner,
           first[operand], scratch(offset)},
          loops_.inner.number(), direction, rows);
    }
  }

  Value* scratch(size_t offset) {
    return b_.offset_bytes(args_.scratch(), int64_t(offset));
  }

  void one_row(const Values& operands) {
    Row row = make_row(operands);
    if (is_short_row(b_, form_)) {
      make_resident(row);
    } else {
      place_buffers(row, args_.scratch());
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

  Row make_row(const Values& operands) {
    const size_t n = body_.instrs.size();
    Row row{form_, arguments_, operands, {}, {}, {}, {}};
    row.constants.resize(n);
    row.splats.resize(n);
    row.buffers.resize(n);
    return row;
  }

  // First element of each operand in the row at outer_.
  Values addresses() {
    return operand_addresses(b_, loops_, arguments_, operands_,
                             operands_.size(), &ArgumentAccess::outer, outer_);
  }

  // Prepares a row whose vectors keep their values in registers over all
  // passes.
  void make_resident(Row& row) {
    const int64_t lanes = b_.lanes();
    const int64_t inner = loops_.inner.number();
    for (int64_t first = 0; first < inner; first += lanes) {
      const int64_t active = std::min(lanes, inner - first);
      row.resident.push_back(row_values(
          b_, row, {b_.i64(first), active == lanes ? nullptr : b_.i64(active)},
          /*pass=*/0));
    }
  }

  void place_buffers(Row& row, Value* start) {
    for (const auto& buffer : schedule_.buffers)
      row.buffers[size_t(buffer.id)] =
          buffer.result >= 0
              ? row.operands[loops_.inputs.size() + size_t(buffer.result)]
              : b_.offset_bytes(
                    start, int64_t(code_.crosswise.bytes + buffer.offset));
  }

  void set_constant(Row& row, int32_t id, Value* scalar) {
    row.constants[size_t(id)] = scalar;
    row.splats[size_t(id)] = b_.splat(scalar);
  }

  // Emits the constants of the row that are known after `level` passes and not
  // before. LLVM drops those that are not used.
  void emit_constants(Row& row, int32_t level) {
    BodyValues values(b_, body_, /*lanes=*/1, [&](BodyValues&, int32_t id) {
      return known_constant(row, id);
    });
    for (size_t i = 0; i < body_.instrs.size(); ++i) {
      const ScalarInstr& instr = body_.instrs[i];
      if (schedule_.varies[i] || schedule_.level[i] != level) continue;
      // Constants are constants in vectors as well.
      if (is_reduction(instr.prim) || instr.prim == Prim::constant) continue;
      set_constant(row, int32_t(i), values.get(int32_t(i)));
    }
  }

  Value* known_constant(const Row& row, int32_t id) {
    const ScalarInstr& instr = body_.instrs[size_t(id)];
    if (instr.prim == Prim::index) return outer_[size_t(instr.slot)];
    if (instr.prim != Prim::input) return row.constants[size_t(id)];
    const DType dtype = loops_.inputs[size_t(instr.slot)].dtype;
    Value* loaded = b_.load_scalar(dtype, row.operands[size_t(instr.slot)]);
    return convert_computed(b_, loaded, dtype, instr.type);
  }

  void store_constants(const Row& row) {
    BodyValues values(b_, body_, /*lanes=*/1, [&](BodyValues&, int32_t id) {
      return row.constants[size_t(id)];
    });
    for (int32_t r : schedule_.row_stores) {
      const DType dtype = loops_.outputs[size_t(r)].dtype;
      b_.store(dtype, values.result(size_t(r), dtype),
               row.operands[loops_.inputs.size() + size_t(r)]);
    }
  }

  VectorBuilder& b_;
  KernelArgs args_;
  const program::RowForm& form_;
  const program::LoopForm& loops_;
  const program::RowCode& code_;
  const ScalarBody& body_;
  const program::RowSchedule& schedule_;
  const StepArguments arguments_;
  Values operands_;
  Values outer_;
  // Of rows that take turns.
  Value* buffers_ = nullptr;
  std::map<int32_t, Reduced> reduced_;
};

}  // namespace

void emit(VectorBuilder& b, const program::RowForm& form) {
  RowsEmitter(b, form).run();
}

}  // namespace fxjit::jit
