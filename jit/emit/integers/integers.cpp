#include <llvm/IR/IntrinsicsX86.h>

#include <cstddef>

#include "jit/emit/epilogue.h"
#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "src/weights/quads.h"

namespace fxjit::jit {
namespace {

using program::IntegerCall;
using program::TileAccess;
using program::TileOperand;
using weights::kQuadColumns;
using weights::kQuadRows;
using weights::QuadFix;

class IntegerEmitter {
 public:
  IntegerEmitter(VectorBuilder& b, const program::IntegerForm& form)
      : b_(b),
        form_(form),
        lhs_(call_pointer(b, offsetof(IntegerCall, lhs))),
        weights_(call_pointer(b, offsetof(IntegerCall, weights))),
        column_sums_(call_pointer(b, offsetof(IntegerCall, column_sums))),
        fix_ends_(call_pointer(b, offsetof(IntegerCall, fix_ends))),
        fixes_(call_pointer(b, offsetof(IntegerCall, fixes))),
        row_starts_(call_pointer(b, offsetof(IntegerCall, row_starts))),
        sums_(call_pointer(b, offsetof(IntegerCall, sums))),
        quads_(call_number(b, offsetof(IntegerCall, quads))),
        sums_row_(call_number(b, offsetof(IntegerCall, sums_row))),
        column_factor_(b.ir().CreateTrunc(
            call_number(b, offsetof(IntegerCall, column_factor)), b.i32())) {
    Value* operands = call_pointer(b, offsetof(IntegerCall, operands));
    for (size_t i = 0; i < form.extras.size() + form.outputs.size(); ++i) {
      const size_t at = i * sizeof(TileOperand);
      operands_.push_back(load_constant(b_, b_.ptr(), operands,
                                        at + offsetof(TileOperand, first)));
      row_bytes_.push_back(load_constant(b_, b_.i64(), operands,
                                         at + offsetof(TileOperand, row)));
    }
  }

  void emit() {
    Value* groups = call_number(b_, offsetof(IntegerCall, groups));
    Value* first = call_number(b_, offsetof(IntegerCall, first_fix));
    b_.loop(b_.i64(0), groups, b_.i64(1), {first},
            [&](Value* group, const Values& carried) {
              return Values{emit_group(group, carried[0])};
            });
    Value* rows = call_number(b_, offsetof(IntegerCall, rows));
    b_.loop(b_.i64(0), rows, b_.i64(1), [&](Value* row) { finish_row(row); });
    b_.ret();
  }

 private:
  int vector_bytes() const { return b_.lanes() * static_cast<int>(kQuadRows); }
  size_t at(int vector, int64_t column) const {
    return static_cast<size_t>(vector * kQuadColumns + column);
  }

  // The sums of a group of columns; gives the end of its fixes.
  Value* emit_group(Value* group, Value* first_fix) {
    Value* column = b_.mul(group, b_.i64(kQuadColumns));
    Values sums = products(group, start_sums(column));
    Value* end = b_.ir().CreateZExt(
        b_.load_raw(b_.i32(), b_.offset(fix_ends_, b_.i32(), group)), b_.i64());
    sums = fixed(sums, first_fix, end);
    for (int i = 0; i < form_.vectors; ++i) store_columns(sums, i, column);
    return end;
  }

  Values start_sums(Value* column) {
    Values columns, sums;
    for (int64_t j = 0; j < kQuadColumns; ++j) {
      Value* sum = b_.load_raw(
          b_.i32(),
          b_.offset(b_.offset(column_sums_, b_.i32(), column), b_.i32(), j));
      columns.push_back(b_.splat(b_.mul(sum, column_factor_)));
    }
    for (int i = 0; i < form_.vectors; ++i) {
      Value* rows = b_.load_raw(
          b_.vec(b_.i32()),
          b_.offset(row_starts_, b_.i32(), int64_t{i} * b_.lanes()));
      for (Value* start : columns) sums.push_back(b_.add(rows, start));
    }
    return sums;
  }

  Values products(Value* group, const Values& start) {
    constexpr int64_t kQuadBytes = kQuadColumns * kQuadRows;
    Value* weights = b_.offset_bytes(
        weights_, b_.mul(group, b_.mul(quads_, b_.i64(kQuadBytes))));
    return b_.loop(b_.i64(0), quads_, b_.i64(form_.group), start,
                   [&](Value* quad, const Values& carried) {
                     Value* rows = lhs_at(quad);
                     Value* row = b_.offset_bytes(
                         weights, b_.mul(quad, b_.i64(kQuadBytes)));
                     Values sums = carried;
                     const Values lhs =
                         load_rows(rows, form_.group * form_.vectors);
                     for (int64_t j = 0; j < kQuadColumns; ++j)
                       add_column(sums, lhs, row, j);
                     return sums;
                   });
  }

  Value* lhs_at(Value* quad) {
    return b_.offset_bytes(
        lhs_, b_.mul(quad, b_.i64(int64_t{vector_bytes()} * form_.vectors)));
  }

  Values load_rows(Value* rows, int count) {
    Values loaded;
    for (int i = 0; i < count; ++i)
      loaded.push_back(b_.load_raw(
          bytes_type(), b_.offset_bytes(rows, int64_t{i} * vector_bytes()),
          vector_bytes()));
    return loaded;
  }

  void add_column(Values& sums, const Values& lhs, Value* weights, int64_t j) {
    Values shorts(static_cast<size_t>(form_.vectors));
    for (int g = 0; g < form_.group; ++g) {
      Value* factors = quad_at(weights, g * kQuadColumns + j);
      for (int i = 0; i < form_.vectors; ++i) {
        const auto vector = static_cast<size_t>(i);
        Value* product =
            pairs(lhs[static_cast<size_t>(g * form_.vectors + i)], factors);
        shorts[vector] = g == 0 ? product : b_.add(shorts[vector], product);
      }
    }
    for (int i = 0; i < form_.vectors; ++i)
      sums[at(i, j)] =
          b_.add(sums[at(i, j)], widened(shorts[static_cast<size_t>(i)]));
  }

  // Four weights for all rows.
  Value* quad_at(Value* base, int64_t number) {
    return spread(b_.load_raw(b_.i32(), b_.offset(base, b_.i32(), number)));
  }
  Value* spread(Value* quad) {
    return b_.ir().CreateBitCast(b_.splat(quad), bytes_type());
  }

  Values fixed(const Values& start, Value* first, Value* end) {
    return b_.loop(
        first, end, b_.i64(kQuadColumns), start,
        [&](Value* fix, const Values& carried) {
          Values sums = carried;
          Value* at_fix = b_.offset_bytes(
              fixes_, b_.mul(fix, b_.i64(int64_t{sizeof(QuadFix)})));
          for (int64_t j = 0; j < kQuadColumns; ++j)
            add_fix(sums, b_.offset_bytes(at_fix, j * int64_t{sizeof(QuadFix)}),
                    j);
          return sums;
        });
  }

  void add_fix(Values& sums, Value* fix, int64_t j) {
    Value* quad = b_.ir().CreateZExt(b_.load_raw(b_.i32(), fix), b_.i64());
    Value* factors = spread(b_.load_raw(
        b_.i32(), b_.offset_bytes(fix, int64_t{offsetof(QuadFix, bytes)})));
    const Values lhs = load_rows(lhs_at(quad), form_.vectors);
    for (int i = 0; i < form_.vectors; ++i)
      sums[at(i, j)] = b_.add(
          sums[at(i, j)], widened(pairs(lhs[static_cast<size_t>(i)], factors)));
  }

  // Lanes become the columns of four rows each.
  void store_columns(const Values& sums, int vector, Value* column) {
    Values columns;
    for (int64_t j = 0; j < kQuadColumns; ++j)
      columns.push_back(sums[at(vector, j)]);
    const Values rows = b_.transpose(columns);
    for (int part = 0; part < b_.lanes(); part += 4)
      for (int r = 0; r < 4; ++r) {
        Value* row =
            b_.mul(sums_row_, b_.i64(int64_t{vector} * b_.lanes() + part + r));
        b_.store_raw(b_.slice(rows[static_cast<size_t>(r)], part, 4),
                     b_.offset(sums_, b_.i32(), b_.add(row, column)));
      }
  }

  llvm::Type* bytes_type() { return b_.vec(b_.i8(), vector_bytes()); }

  // Sums of two products of u8 and s8, saturated in 16 bits.
  Value* pairs(Value* rows, Value* factors) {
    switch (b_.level()) {
      case CpuLevel::sse41:
        return call(llvm::Intrinsic::x86_ssse3_pmadd_ub_sw_128, rows, factors);
      case CpuLevel::avx2:
        return call(llvm::Intrinsic::x86_avx2_pmadd_ub_sw, rows, factors);
      case CpuLevel::avx512:
        break;
    }
    return call(llvm::Intrinsic::x86_avx512_pmaddubs_w_512, rows, factors);
  }

  // Sums of two in 32 bits.
  Value* widened(Value* shorts) {
    Value* ones = b_.integer(shorts->getType(), 1);
    switch (b_.level()) {
      case CpuLevel::sse41:
        return call(llvm::Intrinsic::x86_sse2_pmadd_wd, shorts, ones);
      case CpuLevel::avx2:
        return call(llvm::Intrinsic::x86_avx2_pmadd_wd, shorts, ones);
      case CpuLevel::avx512:
        break;
    }
    return call(llvm::Intrinsic::x86_avx512_pmaddw_d_512, shorts, ones);
  }

  Value* call(llvm::Intrinsic::ID intrinsic, Value* a, Value* b) {
    return b_.ir().CreateIntrinsic(intrinsic, {}, {a, b});
  }

  void finish_row(Value* row) {
    Value* columns = call_number(b_, offsetof(IntegerCall, columns));
    Value* lanes = b_.i64(b_.lanes());
    Value* whole = b_.sub(columns, b_.ir().CreateURem(columns, lanes));
    b_.loop(b_.i64(0), whole, lanes,
            [&](Value* column) { finish_vector(row, column, nullptr); });
    b_.if_then(b_.lt(whole, columns), [&] {
      finish_vector(row, whole, b_.tail_mask(b_.sub(columns, whole)));
    });
  }

  void finish_vector(Value* row, Value* column, Value* mask) {
    Value* place = b_.add(b_.mul(row, sums_row_), column);
    Value* sum =
        b_.load_raw(b_.vec(b_.i32()), b_.offset(sums_, b_.i32(), place));
    emit_tile_epilogue(
        b_, form_.epilogue, form_.extras, form_.outputs,
        [&](size_t i) { return address(i, row, column); }, sum, mask);
  }

  Value* address(size_t i, Value* row, Value* column) {
    const size_t extras = form_.extras.size();
    const TileAccess& access =
        i < extras ? form_.extras[i] : form_.outputs[i - extras];
    Value* at = operands_[i];
    if (access.row != 0) at = b_.offset_bytes(at, b_.mul(row, row_bytes_[i]));
    return access.column == 0
               ? at
               : b_.offset(at, b_.memory_type(access.dtype), column);
  }

  VectorBuilder& b_;
  const program::IntegerForm& form_;
  Value *lhs_, *weights_, *column_sums_, *fix_ends_, *fixes_, *row_starts_,
      *sums_, *quads_, *sums_row_, *column_factor_;
  Values operands_, row_bytes_;
};

}  // namespace

void emit(VectorBuilder& b, const program::IntegerForm& form) {
  IntegerEmitter(b, form).emit();
}

}  // namespace fxjit::jit
