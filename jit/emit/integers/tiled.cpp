#include "jit/emit/integers/tiled.h"

#include <cstddef>

#include "jit/emit/integers/call_fields.h"
#include "jit/emit/integers/products.h"
#include "jit/emit/integers/results.h"
#include "jit/emit/integers/tile_registers.h"
#include "jit/emit/kernel_function.h"
#include "src/weights/quads.h"

namespace fxjit::jit {
namespace {

using program::IntegerCall;
using program::QuadSums;
using weights::kQuadRows;
using weights::kTileColumns;
using weights::kTileRows;

constexpr int64_t kSumBytes = sizeof(int32_t);
// Bytes of a quad of all columns of a group, which is a row of a register.
constexpr int64_t kGroupQuadBytes = kTileColumns * kQuadRows;

// What both kinds of products read, and where they put sums.
class TiledEmitter {
 public:
  TiledEmitter(VectorBuilder& b, const program::IntegerForm& form)
      : b_(b),
        form_(form),
        call_(b),
        sums_(call_pointer(b, offsetof(IntegerCall, sums))) {}

 protected:
  // All groups of columns, so many at once and the others one by one. Calls
  // products(first group, how many).
  template <typename Products>
  void for_groups(int together, Products products) {
    Value* rest = b_.ir().CreateURem(call_.groups, b_.i64(together));
    Value* whole = b_.sub(call_.groups, rest);
    b_.loop(b_.i64(0), whole, b_.i64(together),
            [&](Value* group) { products(group, together); });
    b_.loop(whole, call_.groups, b_.i64(1),
            [&](Value* group) { products(group, 1); });
  }

  Value* group_weights(Value* group) {
    return b_.offset_bytes(
        call_.weights,
        b_.mul(group, b_.mul(call_.quads, b_.i64(kGroupQuadBytes))));
  }

  int parts() const { return int{kTileColumns} / b_.lanes(); }

  VectorBuilder& b_;
  const program::IntegerForm& form_;
  const IntegerFields call_;
  Value* sums_;
};

class RegisterEmitter : TiledEmitter {
 public:
  RegisterEmitter(VectorBuilder& b, const program::IntegerForm& form)
      : TiledEmitter(b, form),
        lhs_row_(call_number(b, offsetof(IntegerCall, lhs_row))),
        rows_(call_number(b, offsetof(IntegerCall, rows))),
        sums_row_(b.mul(call_number(b, offsetof(IntegerCall, sums_row)),
                        b.i64(kSumBytes))),
        registers_(b) {}

  void emit() {
    configure();
    for_groups(kBlock,
               [&](Value* group, int count) { emit_block(group, count); });
    registers_.release();
    IntegerResults(b_, form_).finish(b_.i64(0));
    b_.ret();
  }

 private:
  // Tiles of rows, and groups of columns, of a block.
  static constexpr int kBlock = 2;
  static_assert(kBlock * (kBlock + 2) == TileRegisters::kRegisters);
  static int sums(int i, int j) { return i * kBlock + j; }
  static int row_tile(int i) { return kBlock * kBlock + i; }
  static int quad_tile(int j) { return kBlock * kBlock + kBlock + j; }

  // The last tile of rows has those that there are. A second one that is not
  // used is shaped as well.
  void configure() {
    std::array<Value*, TileRegisters::kRegisters> rows;
    rows.fill(b_.i64(kTileRows));
    const int last = form_.vectors - 1;
    Value* there = b_.sub(rows_, b_.i64(last * kTileRows));
    rows[static_cast<size_t>(row_tile(last))] = there;
    for (int j = 0; j < kBlock; ++j)
      rows[static_cast<size_t>(sums(last, j))] = there;
    registers_.configure(rows);
  }

  void emit_block(Value* group, int count) {
    begin_sums(group, count);
    b_.loop(b_.i64(0), call_.quads, b_.i64(kTileRows), [&](Value* quad) {
      load_rows(quad);
      for (int j = 0; j < count; ++j) {
        Value* weights = group_weights(b_.add(group, b_.i64(j)));
        registers_.load(
            quad_tile(j),
            b_.offset_bytes(weights, b_.mul(quad, b_.i64(kGroupQuadBytes))),
            b_.i64(kGroupQuadBytes));
      }
      for (int i = 0; i < form_.vectors; ++i)
        for (int j = 0; j < count; ++j)
          registers_.add_products(sums(i, j), row_tile(i), quad_tile(j),
                                  form_.is_signed);
    });
    for_sums(group, count, [&](int tile, Value* place) {
      registers_.store(tile, place, sums_row_);
    });
  }

  void load_rows(Value* quad) {
    Value* at = b_.offset_bytes(call_.lhs, b_.mul(quad, b_.i64(kQuadRows)));
    for (int i = 0; i < form_.vectors; ++i)
      registers_.load(
          row_tile(i),
          b_.offset_bytes(at, b_.mul(lhs_row_, b_.i64(i * kTileRows))),
          lhs_row_);
  }

  // Calls each(register, its place in the scratch).
  template <typename Each>
  void for_sums(Value* group, int count, Each each) {
    for (int i = 0; i < form_.vectors; ++i)
      for (int j = 0; j < count; ++j)
        each(sums(i, j),
             sum_place(b_.i64(i * kTileRows), b_.add(group, b_.i64(j))));
  }

  Value* sum_place(Value* row, Value* group) {
    return b_.offset_bytes(
        sums_, b_.add(b_.mul(row, sums_row_),
                      b_.mul(group, b_.i64(kTileColumns * kSumBytes))));
  }

  void begin_sums(Value* group, int count) {
    if (!form_.has_starts)
      return for_sums(group, count,
                      [&](int tile, Value*) { registers_.zero(tile); });
    b_.loop(b_.i64(0), rows_, b_.i64(1), [&](Value* row) {
      Value* start = b_.splat(
          b_.load_raw(b_.i32(), b_.offset(call_.row_starts, b_.i32(), row)));
      for (int part = 0; part < count * parts(); ++part)
        b_.store_raw(start, b_.offset(sum_place(row, group), b_.i32(),
                                      int64_t{part} * b_.lanes()));
    });
    for_sums(group, count, [&](int tile, Value* place) {
      registers_.load(tile, place, sums_row_);
    });
  }

  Value *lhs_row_, *rows_, *sums_row_;
  TileRegisters registers_;
};

class SingleRowEmitter : TiledEmitter {
 public:
  SingleRowEmitter(VectorBuilder& b, const program::IntegerForm& form)
      : TiledEmitter(b, form), products_(b, QuadSums::dot) {}

  void emit() {
    products_.allow_dots();
    for_groups(kStreams, [&](Value* group, int count) {
      keep(row_products(group, count), group);
    });
    IntegerResults(b_, form_).finish(b_.i64(0));
    b_.ret();
  }

 private:
  // Groups of columns at once: several streams of weights arrive faster than
  // one, and share what is read of the row.
  static constexpr int kStreams = 8;

  Values row_products(Value* group, int count) {
    Values weights;
    for (int g = 0; g < count; ++g) {
      Value* first = group_weights(b_.add(group, b_.i64(g)));
      for (int part = 0; part < parts(); ++part)
        weights.push_back(b_.offset_bytes(first, int64_t{part} * bytes()));
    }
    return b_.loop(b_.i64(0), call_.quads, b_.i64(1), starts(group, count),
                   [&](Value* quad, const Values& carried) {
                     Values sums = carried;
                     Value* row = row_quad(quad);
                     Value* at = b_.mul(quad, b_.i64(kGroupQuadBytes));
                     for (size_t i = 0; i < sums.size(); ++i) {
                       Value* quads = b_.load_raw(
                           bytes_type(), b_.offset_bytes(weights[i], at));
                       sums[i] = products_.add(sums[i], row, quads);
                     }
                     return sums;
                   });
  }

  int bytes() const { return b_.lanes() * int{kSumBytes}; }
  llvm::Type* bytes_type() { return b_.vec(b_.i8(), bytes()); }

  // Four numbers of the row for all columns, as u8.
  Value* row_quad(Value* quad) {
    constexpr auto kFlip = static_cast<int32_t>(0x80808080);
    Value* four =
        b_.load_raw(b_.i32(), b_.offset(call_.lhs, b_.i32(), quad), 1);
    if (form_.is_signed) four = b_.bit_xor(four, b_.i32(kFlip));
    return b_.ir().CreateBitCast(b_.splat(four), bytes_type());
  }

  Values starts(Value* group, int count) {
    Values sums;
    for (int part = 0; part < count * parts(); ++part)
      sums.push_back(form_.has_starts
                         ? start(b_.add(first_column(group),
                                        b_.i64(int64_t{part} * b_.lanes())))
                         : b_.splat(b_.i32(0)));
    return sums;
  }

  Value* start(Value* column) {
    Value* columns = b_.load_raw(
        b_.vec(b_.i32()), b_.offset(call_.column_sums, b_.i32(), column));
    Value* row = b_.splat(b_.load_raw(b_.i32(), call_.row_starts));
    return b_.add(row, b_.mul(columns, b_.splat(call_.column_factor)));
  }

  Value* first_column(Value* group) {
    return b_.mul(group, b_.i64(kTileColumns));
  }

  void keep(const Values& sums, Value* group) {
    for (size_t part = 0; part < sums.size(); ++part)
      b_.store_raw(
          sums[part],
          b_.offset(sums_, b_.i32(),
                    b_.add(first_column(group),
                           b_.i64(static_cast<int64_t>(part) * b_.lanes()))));
  }

  IntegerProducts products_;
};

}  // namespace

void emit_tiled(VectorBuilder& b, const program::IntegerForm& form) {
  if (form.vectors == 0)
    SingleRowEmitter(b, form).emit();
  else
    RegisterEmitter(b, form).emit();
}

}  // namespace fxjit::jit
