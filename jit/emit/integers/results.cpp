#include "jit/emit/integers/results.h"

#include <algorithm>

#include "jit/emit/body.h"
#include "jit/emit/kernel_function.h"
#include "src/program/cost/body_work.h"
#include "src/weights/quads.h"

namespace fxjit::jit {
namespace {

using program::IntegerCall;
using program::IntegerForm;
using weights::kQuadColumns;

// Code for epilogues of a greater program::body_cost, once for each vector of
// sums, would be long.
constexpr double kMostPairCost = 20;

bool is_byte(const program::TileAccess& access) {
  return dtype_size(access.dtype) == 1 && !is_float8(access.dtype);
}

// How the one result of 8 bits is quantised; none if the epilogue reads more
// than numbers and rows, or sums come in memory.
Quantising quantising_of(const IntegerForm& form) {
  const auto by_row = [](const auto& access) { return access.row != 0; };
  if (form.vectors == 0 || form.adds == program::QuadSums::tiles ||
      form.outputs.size() != 1 ||
      form.outputs[0].column != 1 || std::ranges::any_of(form.extras, by_row) ||
      program::body_cost(form.epilogue) > kMostPairCost)
    return {};
  const Quantising found =
      Quantisings(form.epilogue).of(form.epilogue.results[0]);
  const auto instr = [&](int32_t id) -> const ScalarInstr& {
    return form.epilogue.instrs[static_cast<size_t>(id)];
  };
  if (found.real < 0 ||
      instr(form.epilogue.results[0]).type != form.outputs[0].dtype)
    return {};
  // One zero point for all columns.
  if (found.zero >= 0)
    if (const ScalarInstr& zero = instr(found.zero);
        zero.prim != Prim::input || zero.slot == 0 ||
        form.extras[static_cast<size_t>(zero.slot - 1)].column != 0)
      return {};
  return found;
}

// Of four lanes of both by turns: the first two, or the last two.
Value* interleaved(VectorBuilder& b, Value* x, Value* y, bool last) {
  const int lanes = VectorBuilder::lane_count(x);
  llvm::SmallVector<int, 16> mask;
  for (int at = last ? 2 : 0; at < lanes; at += 4)
    for (const int lane : {at, at + 1}) mask.append({lane, lanes + lane});
  return b.ir().CreateShuffleVector(x, y, mask);
}

size_t at(int vector, int64_t column) {
  return static_cast<size_t>(vector * kQuadColumns + column);
}

}  // namespace

IntegerResults::IntegerResults(VectorBuilder& b, const IntegerForm& form)
    : b_(b),
      form_(form),
      sums_(call_pointer(b, offsetof(IntegerCall, sums))),
      sums_row_(call_number(b, offsetof(IntegerCall, sums_row))),
      operands_(b, form, call_pointer(b, offsetof(IntegerCall, operands))),
      quantising_(quantising_of(form)) {
  takes_pairs_ = quantising_.real >= 0;
  if (!takes_pairs_) return;
  numbers_ = operands_.numbers();
  find_rows();
}

// Vectors that are not full repeat the last row; so do its results.
void IntegerResults::find_rows() {
  Value* last = b_.sub(call_number(b_, offsetof(IntegerCall, rows)), b_.i64(1));
  for (int r = 0; r < form_.vectors * b_.lanes(); ++r) {
    Value* row =
        b_.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.i64(r), last);
    rows_.push_back(operands_.at(form_.extras.size(), row, nullptr));
  }
}

// What is quantised, of one column.
Value* IntegerResults::real(Value* sum, Value* column) {
  BodyValues values(
      b_, form_.epilogue, b_.lanes(), [&](BodyValues&, int32_t id) -> Value* {
        const ScalarInstr& instr =
            form_.epilogue.instrs[static_cast<size_t>(id)];
        if (instr.prim != Prim::input) return nullptr;
        if (instr.slot == 0) return sum;
        const auto slot = static_cast<size_t>(instr.slot - 1);
        if (numbers_[slot] != nullptr) return numbers_[slot];
        return b_.load_broadcast(form_.extras[slot].dtype,
                                 operands_.at(slot, b_.i64(0), column));
      });
  return values.get(quantising_.real);
}

// Four columns of a vector of rows, in i32 by row.
Value* IntegerResults::packed_rows(const Values& sums, int vector,
                                   Value* column) {
  Values reals;
  for (int64_t j = 0; j < kQuadColumns; ++j)
    reals.push_back(real(sums[at(vector, j)], b_.add(column, b_.i64(j))));
  if (quantising_.zero < 0)
    return emit_quantised_columns(b_, reals, nullptr, quantising_);
  const ScalarInstr& zero =
      form_.epilogue.instrs[static_cast<size_t>(quantising_.zero)];
  Value* number = b_.lane(numbers_[static_cast<size_t>(zero.slot - 1)], 0);
  return emit_quantised_columns(
      b_, reals, b_.convert(number, zero.type, DType::i16), quantising_);
}

void IntegerResults::put_pair(const Values& first, const Values& second,
                              Value* column) {
  Value* next = b_.add(column, b_.i64(kQuadColumns));
  for (int i = 0; i < form_.vectors; ++i) {
    Value* low = packed_rows(first, i, column);
    Value* high = packed_rows(second, i, next);
    for (const bool last : {false, true})
      put_rows(b_.ir().CreateBitCast(interleaved(b_, low, high, last),
                                     b_.vec(b_.i64(), b_.lanes() / 2)),
               i * b_.lanes() + (last ? 2 : 0), column);
  }
}

// Two of four rows each, eight bytes of a row.
void IntegerResults::put_rows(Value* rows, int first, Value* column) {
  for (int k = 0; k < b_.lanes() / 2; ++k) {
    const int row = first + k / 2 * 4 + k % 2;
    b_.store_raw(b_.lane(rows, k),
                 b_.offset_bytes(rows_[static_cast<size_t>(row)], column), 1);
  }
}

void IntegerResults::keep(const Values& sums, Value* column) {
  for (int i = 0; i < form_.vectors; ++i) keep_columns(sums, i, column);
}

void IntegerResults::keep_row(Value* sums, Value* column) {
  b_.store_raw(sums, b_.offset(sums_, b_.i32(), column));
}

// Lanes become the columns of four rows each.
void IntegerResults::keep_columns(const Values& sums, int vector,
                                  Value* column) {
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

// Results of 8 bits are packed from several vectors at once.
int IntegerResults::wide_lanes() const {
  constexpr int kVectors = 4;
  const bool packs =
      !takes_pairs_ && std::ranges::any_of(form_.outputs, is_byte);
  return packs ? kVectors * b_.lanes() : b_.lanes();
}

void IntegerResults::finish(Value* first) {
  Value* rows = call_number(b_, offsetof(IntegerCall, rows));
  const int wide = wide_lanes();
  const Values numbers = operands_.numbers();
  const Values wide_numbers =
      wide == b_.lanes() ? numbers : operands_.numbers(wide);
  b_.loop(b_.i64(0), rows, b_.i64(1), [&](Value* row) {
    Value* column = first;
    for (int lanes = wide; lanes > b_.lanes(); lanes /= 2)
      column = finish_vectors(row, column, lanes, wide_numbers);
    column = finish_vectors(row, column, b_.lanes(), numbers);
    Value* columns = call_number(b_, offsetof(IntegerCall, columns));
    b_.if_then(b_.lt(column, columns), [&] {
      finish_vector(row, column, b_.lanes(), numbers,
                    b_.tail_mask(b_.sub(columns, column)));
    });
  });
}

// As many whole vectors of so many lanes as there are; gives the column behind.
Value* IntegerResults::finish_vectors(Value* row, Value* first, int lanes,
                                      const Values& numbers) {
  Value* columns = call_number(b_, offsetof(IntegerCall, columns));
  Value* rest = b_.ir().CreateURem(b_.sub(columns, first), b_.i64(lanes));
  Value* whole = b_.sub(columns, rest);
  b_.loop(first, whole, b_.i64(lanes), [&](Value* column) {
    finish_vector(row, column, lanes, numbers, nullptr);
  });
  return whole;
}

void IntegerResults::finish_vector(Value* row, Value* column, int lanes,
                                   const Values& numbers, Value* mask) {
  Value* place = b_.add(b_.mul(row, sums_row_), column);
  Value* sum =
      b_.load_raw(b_.vec(b_.i32(), lanes), b_.offset(sums_, b_.i32(), place));
  Values fitting;
  for (Value* number : numbers)
    fitting.push_back(number ? b_.slice(number, 0, lanes) : nullptr);
  emit_tile_epilogue(
      b_, form_.epilogue, form_.extras, form_.outputs,
      {{sum, mask, [&](size_t i) { return operands_.at(i, row, column); }}},
      fitting);
}

}  // namespace fxjit::jit
