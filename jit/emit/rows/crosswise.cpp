#include "jit/emit/rows/crosswise.h"

#include <algorithm>

#include "jit/emit/access.h"

namespace fxjit::jit {
namespace {

class CrosswiseCopy {
 public:
  CrosswiseCopy(VectorBuilder& b, const program::Crosswise& crosswise,
                const CrosswiseOperand& operand, int64_t inner,
                Direction direction)
      : b_(b),
        pitch_(crosswise.pitch),
        rows_(crosswise.rows),
        operand_(operand),
        inner_(inner),
        direction_(direction),
        type_(b.memory_type(operand.dtype)) {}

  void run(Value* rows) {
    b_.if_else(
        b_.eq(rows, b_.i64(rows_)),
        [&]() -> Values {
          by_tiles();
          return {};
        },
        [&]() -> Values {
          by_elements(rows);
          return {};
        });
  }

 private:
  // A whole group: square tiles, turned in registers.
  void by_tiles() {
    const int64_t lanes = b_.lanes();
    const int64_t full = inner_ / lanes * lanes;
    const auto tiles = [&](Value* column, int64_t columns) {
      for (int64_t r = 0; r < rows_; r += lanes) tile(column, columns, r);
    };
    if (full > 0) {
      b_.loop(b_.i64(0), b_.i64(full), b_.i64(lanes),
              [&](Value* column) { tiles(column, lanes); });
    }
    if (full < inner_) tiles(b_.i64(full), inner_ - full);
  }

  // A tile at a column and a row; columns beyond `columns` do not exist in
  // memory.
  void tile(Value* first, int64_t columns, int64_t first_row) {
    llvm::Type* vector = b_.vec(type_);
    const auto lanes = size_t(b_.lanes());
    Values lines(lanes, llvm::Constant::getNullValue(vector));
    const auto outside = [&](size_t k) {
      return b_.offset(column(first, int64_t(k)), type_, first_row);
    };
    const auto inside = [&](size_t r) {
      return row(b_.i64(first_row + int64_t(r)), first);
    };
    const size_t known =
        direction_ == Direction::load ? size_t(columns) : lanes;
    for (size_t i = 0; i < known; ++i) {
      lines[i] = b_.load_raw(
          vector, direction_ == Direction::load ? outside(i) : inside(i));
    }
    lines = b_.transpose(lines);
    const size_t wanted =
        direction_ == Direction::load ? lanes : size_t(columns);
    for (size_t i = 0; i < wanted; ++i) {
      b_.store_raw(lines[i],
                   direction_ == Direction::load ? inside(i) : outside(i));
    }
  }

  // What is left of the rows at an end: few, one element after the other.
  void by_elements(Value* rows) {
    b_.loop(b_.i64(0), b_.i64(inner_), b_.i64(1), [&](Value* at) {
      b_.loop(b_.i64(0), rows, b_.i64(1), [&](Value* r) {
        Value* outside = b_.offset(column(at, 0), type_, r);
        if (direction_ == Direction::load) {
          b_.store_raw(b_.load_raw(type_, outside), row(r, at));
        } else {
          b_.store_raw(b_.load_raw(type_, row(r, at)), outside);
        }
      });
    });
  }

  // The group's first element at position first + k of its rows.
  Value* column(Value* first, int64_t k) {
    Value* position = b_.add(first, b_.i64(k));
    return b_.offset(operand_.memory, type_, b_.mul(position, operand_.stride));
  }

  Value* row(Value* number, Value* position) {
    Value* start = b_.mul(number, b_.i64(pitch_));
    return b_.offset(operand_.scratch, type_, b_.add(start, position));
  }

  VectorBuilder& b_;
  int64_t pitch_;
  int64_t rows_;
  const CrosswiseOperand& operand_;
  int64_t inner_;
  Direction direction_;
  llvm::Type* type_;
};

}  // namespace

RowSpan::RowSpan(VectorBuilder& b, const Values& sizes, int dims)
    : b_(b), sizes_(sizes.end() - dims, sizes.end()) {}

Value* RowSpan::place(const Values& outer) const {
  const size_t first = outer.size() - sizes_.size();
  Value* place = outer[first];
  for (size_t d = 1; d < sizes_.size(); ++d)
    place = b_.add(b_.mul(place, sizes_[d]), outer[first + d]);
  return place;
}

Value* RowSpan::left(const Values& outer) const {
  Value* all = sizes_[0];
  for (size_t d = 1; d < sizes_.size(); ++d) all = b_.mul(all, sizes_[d]);
  return b_.sub(all, place(outer));
}

void RowSpan::go_to(Value* place, Values& outer) const {
  const Values positions = unravel(b_, place, sizes_);
  std::ranges::copy(positions, outer.end() - std::ssize(positions));
}

void emit_crosswise(VectorBuilder& b, const program::Crosswise& crosswise,
                    const CrosswiseOperand& operand, int64_t inner,
                    Direction direction, Value* rows) {
  CrosswiseCopy(b, crosswise, operand, inner, direction).run(rows);
}

}  // namespace fxjit::jit
