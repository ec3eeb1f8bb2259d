#include <algorithm>
#include <cstddef>

#include "jit/emit/integers/call_fields.h"
#include "jit/emit/integers/products.h"
#include "jit/emit/integers/results.h"
#include "jit/emit/integers/tiled.h"
#include "jit/emit/kernel_function.h"
#include "jit/emit/skeletons.h"
#include "src/weights/quads.h"

namespace fxjit::jit {
namespace {

using program::IntegerCall;
using program::QuadSums;
using weights::kQuadColumns;
using weights::kQuadRows;
using weights::QuadFixes;

class IntegerEmitter {
 public:
  IntegerEmitter(VectorBuilder& b, const program::IntegerForm& form)
      : b_(b),
        form_(form),
        call_(b),
        fix_ends_(call_pointer(b, offsetof(IntegerCall, fix_ends))),
        fixes_(call_pointer(b, offsetof(IntegerCall, fixes))),
        products_(b, form.adds),
        results_(b, form) {}

  void emit() {
    products_.allow_dots();
    Value* first_fix = call_number(b_, offsetof(IntegerCall, first_fix));
    if (!results_.takes_pairs()) {
      emit_rest(b_.i64(0), first_fix);
    } else {
      Value* groups = b_.i64(2);  // Of a pair.
      Value* pairs =
          b_.ir().CreateUDiv(call_number(b_, offsetof(IntegerCall, columns)),
                             b_.mul(groups, b_.i64(kQuadColumns)));
      Value* whole = b_.mul(pairs, groups);
      Value* fix = b_.loop(b_.i64(0), whole, groups, {first_fix},
                           [&](Value* group, const Values& carried) {
                             return Values{emit_pair(group, carried[0])};
                           })[0];
      b_.if_then(b_.lt(whole, call_.groups), [&] { emit_rest(whole, fix); });
    }
    b_.ret();
  }

 private:
  int vector_bytes() const { return b_.lanes() * static_cast<int>(kQuadRows); }
  size_t at(int vector, int64_t column) const {
    return static_cast<size_t>(vector * kQuadColumns + column);
  }

  bool is_one_row() const { return form_.vectors == 0; }

  static Value* column_of(VectorBuilder& b, Value* group) {
    return b.mul(group, b.i64(kQuadColumns));
  }

  // All groups of columns from one on, by way of scratch.
  void emit_rest(Value* first, Value* first_fix) {
    Value* groups = call_.groups;
    if (is_one_row()) {
      Value* whole = b_.bit_and(groups, b_.i64(-kRowGroups));
      first_fix = emit_groups(first, whole, kRowGroups, first_fix);
      emit_groups(whole, groups, 1, first_fix);
    } else {
      emit_groups(first, groups, 1, first_fix);
    }
    results_.finish(column_of(b_, first));
  }

  // So many at once; gives the end of their fixes.
  Value* emit_groups(Value* first, Value* last, int64_t count, Value* fix) {
    return b_.loop(
        first, last, b_.i64(count), {fix},
        [&](Value* group, const Values& carried) {
          return Values{is_one_row() ? emit_row_groups(group, count, carried[0])
                                     : emit_group(group, carried[0])};
        })[0];
  }

  // A group of columns; gives the end of its fixes.
  Value* emit_group(Value* group, Value* fix) {
    const Values sums = group_sums(group, fix);
    results_.keep(sums, column_of(b_, group));
    return fix;
  }

  Value* emit_pair(Value* group, Value* fix) {
    const Values first = group_sums(group, fix);
    const Values second = group_sums(b_.add(group, b_.i64(1)), fix);
    results_.put_pair(first, second, column_of(b_, group));
    return fix;
  }

  // The sums of a group of columns; `fix` becomes the end of its fixes.
  Values group_sums(Value* group, Value*& fix) {
    const Values sums = products(group, start_sums(column_of(b_, group)));
    if (!has_fixes()) return sums;
    Value* first = fix;
    fix = end_of_fixes(group, first);
    return fixed(sums, first, fix);
  }

  Value* end_of_fixes(Value* group, Value* first) {
    if (!has_fixes()) return first;
    return b_.ir().CreateZExt(
        b_.load_raw(b_.i32(), b_.offset(fix_ends_, b_.i32(), group)), b_.i64());
  }

  // One row: lanes are the columns of several quads, whose sums are added.
  // Several groups of columns are several streams of weights, which arrive
  // faster than one, and share what is read of the row.
  Value* emit_row_groups(Value* group, int64_t count, Value* first_fix) {
    const Values sums = row_products(group, count);
    Value* fix = first_fix;
    for (int64_t g = 0; g < count; ++g) {
      Value* number = b_.add(group, b_.i64(g));
      Value* column = column_of(b_, number);
      Value* sum = row_start(column);
      for (int part = 0; part < row_parts(); ++part)
        sum = b_.add(sum, b_.slice(sums[static_cast<size_t>(g)], part * 4, 4));
      if (has_fixes()) {
        Value* end = end_of_fixes(number, fix);
        sum = b_.loop(fix, end, b_.i64(1), {sum},
                      [&](Value* each, const Values& carried) {
                        return Values{b_.add(carried[0], row_fixes(each))};
                      })[0];
        fix = end;
      }
      results_.keep_row(sum, column);
    }
    return fix;
  }

  Values row_products(Value* group, int64_t count) {
    Value* group_bytes = b_.mul(call_.quads, b_.i64(kRowBytes));
    Values weights;
    for (int64_t g = 0; g < count; ++g)
      weights.push_back(b_.offset_bytes(
          call_.weights, b_.mul(b_.add(group, b_.i64(g)), group_bytes)));
    const Values zeros(static_cast<size_t>(count),
                       b_.splat(b_.ir().getInt32(0)));
    return b_.loop(
        b_.i64(0), call_.quads, b_.i64(weights::kQuadMultiple), zeros,
        [&](Value* quad, const Values& carried) {
          Values sums = carried;
          Value* at = b_.mul(quad, b_.i64(kRowBytes));
          Value* rows = b_.offset_bytes(call_.lhs, at);
          Value* signs = b_.offset_bytes(rows, group_bytes);
          for (int q = 0; q < weights::kQuadMultiple; q += row_parts()) {
            Value* row = load_quads(rows, q);
            Value* sign = has_signs() ? load_quads(signs, q) : nullptr;
            for (size_t g = 0; g < sums.size(); ++g) {
              Value* factors = load_quads(b_.offset_bytes(weights[g], at), q);
              if (sign) factors = b_.bit_xor(factors, sign);
              sums[g] = products_.add(sums[g], row, factors);
            }
          }
          return sums;
        });
  }

  int row_parts() const { return b_.lanes() / static_cast<int>(kQuadColumns); }

  static constexpr int64_t kRowBytes = kQuadColumns * kQuadRows;
  // Groups of columns that a row takes at once.
  static constexpr int64_t kRowGroups = 8;

  Value* load_quads(Value* base, int64_t quad) {
    return b_.load_raw(bytes_type(), b_.offset_bytes(base, quad * kRowBytes),
                       static_cast<int>(kRowBytes));
  }

  // What the sums of four columns begin with.
  Value* row_start(Value* column) {
    if (!form_.has_starts) return b_.splat(b_.ir().getInt32(0), 4);
    Value* columns = b_.load_raw(
        b_.vec(b_.i32(), 4), b_.offset(call_.column_sums, b_.i32(), column));
    Value* start = b_.splat(b_.load_raw(b_.i32(), call_.row_starts), 4);
    return b_.add(start, b_.mul(columns, b_.splat(call_.column_factor, 4)));
  }

  // The sums of the fixes of four columns, each of a quad of its own.
  Value* row_fixes(Value* fix) {
    Value* at = fixes_at(fix);
    Value* rows = llvm::PoisonValue::get(b_.vec(b_.i32(), 4));
    for (int64_t j = 0; j < kQuadColumns; ++j) {
      Value* place = b_.offset_bytes(call_.lhs, place_of(at, j));
      Value* row = b_.load_raw(b_.i32(), place);
      rows = b_.ir().CreateInsertElement(rows, row, static_cast<uint64_t>(j));
    }
    llvm::Type* bytes = b_.vec(b_.i8(), static_cast<int>(kRowBytes));
    Value* factors = b_.load_raw(
        bytes, b_.offset_bytes(at, int64_t{offsetof(QuadFixes, bytes)}), 4);
    return products_.quads(b_.ir().CreateBitCast(rows, bytes), factors);
  }

  Value* fixes_at(Value* number) {
    return b_.offset_bytes(fixes_,
                           b_.mul(number, b_.i64(int64_t{sizeof(QuadFixes)})));
  }

  // Bytes to the quad of one row that the fix of a column is for.
  Value* place_of(Value* fixes, int64_t column) {
    return b_.ir().CreateZExt(
        b_.load_raw(b_.i32(), b_.offset(fixes, b_.i32(), column)), b_.i64());
  }

  Values start_sums(Value* column) {
    if (!form_.has_starts)
      return Values(at(form_.vectors, 0), b_.splat(b_.ir().getInt32(0)));
    Values columns, sums;
    for (int64_t j = 0; j < kQuadColumns; ++j) {
      Value* sum = b_.load_raw(
          b_.i32(), b_.offset(b_.offset(call_.column_sums, b_.i32(), column),
                              b_.i32(), j));
      columns.push_back(b_.splat(b_.mul(sum, call_.column_factor)));
    }
    for (int i = 0; i < form_.vectors; ++i) {
      Value* rows = b_.load_raw(
          b_.vec(b_.i32()),
          b_.offset(call_.row_starts, b_.i32(), int64_t{i} * b_.lanes()));
      for (Value* start : columns) sums.push_back(b_.add(rows, start));
    }
    return sums;
  }

  Values products(Value* group, const Values& start) {
    constexpr int64_t kQuadBytes = kQuadColumns * kQuadRows;
    Value* weights = b_.offset_bytes(
        call_.weights, b_.mul(group, b_.mul(call_.quads, b_.i64(kQuadBytes))));
    return b_.loop(b_.i64(0), call_.quads, b_.i64(unit()), start,
                   [&](Value* quad, const Values& carried) {
                     Value* rows = lhs_at(quad);
                     Value* row = b_.offset_bytes(
                         weights, b_.mul(quad, b_.i64(kQuadBytes)));
                     Values sums = carried;
                     const Values lhs = load_rows(rows, unit() * form_.vectors);
                     const Values signs = signs_behind(rows);
                     for (int64_t j = 0; j < kQuadColumns; ++j)
                       add_column(sums, lhs, signs, row, j);
                     return sums;
                   });
  }

  bool has_fixes() const { return form_.adds == QuadSums::clipped; }
  bool has_signs() const { return form_.adds == QuadSums::signs; }
  // Quads that are taken together.
  int unit() const { return form_.group; }

  Value* lhs_at(Value* quad) {
    return b_.offset_bytes(
        call_.lhs,
        b_.mul(quad, b_.i64(int64_t{vector_bytes()} * form_.vectors)));
  }

  Values load_rows(Value* rows, int count) {
    Values loaded;
    for (int i = 0; i < count; ++i)
      loaded.push_back(b_.load_raw(
          bytes_type(), b_.offset_bytes(rows, int64_t{i} * vector_bytes()),
          vector_bytes()));
    return loaded;
  }

  // Those of a quad of all rows, where its magnitudes are `rows`.
  Values signs_behind(Value* rows) {
    if (!has_signs()) return {};
    Value* magnitudes =
        b_.mul(call_.quads, b_.i64(int64_t{vector_bytes()} * form_.vectors));
    return load_rows(b_.offset_bytes(rows, magnitudes), form_.vectors);
  }

  void add_column(Values& sums, const Values& lhs, const Values& signs,
                  Value* weights, int64_t j) {
    if (form_.adds == QuadSums::dot)
      return add_quads(sums, lhs, quad_at(weights, j), j);
    Values shorts(static_cast<size_t>(form_.vectors));
    for (int g = 0; g < unit(); ++g) {
      Value* factors = quad_at(weights, g * kQuadColumns + j);
      for (int i = 0; i < form_.vectors; ++i) {
        const auto vector = static_cast<size_t>(i);
        Value* product = products_.pairs(
            lhs[static_cast<size_t>(g * form_.vectors + i)],
            has_signs() ? b_.bit_xor(factors, signs[vector]) : factors);
        shorts[vector] = g == 0 ? product : b_.add(shorts[vector], product);
      }
    }
    for (int i = 0; i < form_.vectors; ++i) {
      Value* made = shorts[static_cast<size_t>(i)];
      sums[at(i, j)] = b_.add(sums[at(i, j)], products_.in_words(made));
    }
  }

  void add_quads(Values& sums, const Values& lhs, Value* factors, int64_t j) {
    for (int i = 0; i < form_.vectors; ++i)
      sums[at(i, j)] =
          products_.add(sums[at(i, j)], lhs[static_cast<size_t>(i)], factors);
  }

  // Four weights for all rows.
  Value* quad_at(Value* base, int64_t number) {
    return spread(b_.load_raw(b_.i32(), b_.offset(base, b_.i32(), number)));
  }
  Value* spread(Value* quad) {
    return b_.ir().CreateBitCast(b_.splat(quad), bytes_type());
  }

  Values fixed(const Values& start, Value* first, Value* end) {
    return b_.loop(first, end, b_.i64(1), start,
                   [&](Value* fix, const Values& carried) {
                     Values sums = carried;
                     Value* at = fixes_at(fix);
                     for (int64_t j = 0; j < kQuadColumns; ++j)
                       add_fix(sums, at, j);
                     return sums;
                   });
  }

  void add_fix(Values& sums, Value* fixes, int64_t j) {
    Value* bytes = b_.offset_bytes(fixes, int64_t{offsetof(QuadFixes, bytes)});
    Value* factors = quad_at(bytes, j);
    const int64_t rows = form_.vectors * vector_bytes() / weights::kFixPlace;
    const Values lhs = load_rows(
        b_.offset_bytes(call_.lhs, b_.mul(place_of(fixes, j), b_.i64(rows))),
        form_.vectors);
    add_quads(sums, lhs, factors, j);
  }

  llvm::Type* bytes_type() { return b_.vec(b_.i8(), vector_bytes()); }

  VectorBuilder& b_;
  const program::IntegerForm& form_;
  const IntegerFields call_;
  Value *fix_ends_, *fixes_;
  IntegerProducts products_;
  IntegerResults results_;
};

}  // namespace

void emit(VectorBuilder& b, const program::IntegerForm& form) {
  if (form.adds == QuadSums::tiles)
    emit_tiled(b, form);
  else
    IntegerEmitter(b, form).emit();
}

}  // namespace fxjit::jit
