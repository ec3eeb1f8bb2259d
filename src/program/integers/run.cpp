#include "src/program/integers/run.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "fxjit/dims.h"
#include "src/support/rounding.h"
#include "src/weights/panels.h"

namespace fxjit::program {
namespace {

using support::round_up;
using weights::kQuadColumns;
using weights::kQuadRows;

constexpr int64_t kLine = 64;
// s8 rows are made u8 by so much.
constexpr int32_t kSignedShift = 128;

// Rows of u8, quad by quad, to every `stride` bytes; behind the depth zeros.
struct RowPacker {
  int64_t depth, quads, stride;
  uint32_t flip;  // The bits of four numbers that are turned.

  void pack(const uint8_t* from, std::byte* to) const {
    const int64_t whole = depth / kQuadRows;
    for (int64_t q = 0; q < whole; ++q, to += stride) {
      uint32_t four;
      std::memcpy(&four, from + q * kQuadRows, sizeof(four));
      four ^= flip;
      std::memcpy(to, &four, sizeof(four));
    }
    for (int64_t q = whole; q < quads; ++q, to += stride) {
      uint32_t four = 0;
      const int64_t left = std::max<int64_t>(0, depth - q * kQuadRows);
      for (int64_t i = 0; i < std::min(left, kQuadRows); ++i)
        four |= uint32_t{from[q * kQuadRows + i] ^ (flip & 0xff)} << (8 * i);
      std::memcpy(to, &four, sizeof(four));
    }
  }
};

// Walks the rows of the left-hand side: where each begins.
class RowWalk {
 public:
  RowWalk(const std::vector<IntegerAxis>& axes, int64_t row) : axes_(axes) {
    for (size_t i = axes.size(); i-- > 0; row /= axes[i].size) {
      place_[i] = row % axes[i].size;
      offset_ += place_[i] * axes[i].stride;
    }
  }

  int64_t offset() const { return offset_; }

  void advance() {
    for (size_t i = axes_.size(); i-- > 0;) {
      offset_ += axes_[i].stride;
      if (++place_[i] < axes_[i].size) return;
      offset_ -= place_[i] * axes_[i].stride;
      place_[i] = 0;
    }
  }

 private:
  const std::vector<IntegerAxis>& axes_;
  std::array<int64_t, kMaxRank> place_{};
  int64_t offset_ = 0;
};

uint32_t sum_of(const uint8_t* row, int64_t depth, bool is_signed) {
  uint32_t sum = 0;
  if (is_signed)
    for (int64_t k = 0; k < depth; ++k)
      sum += static_cast<uint32_t>(int32_t{static_cast<int8_t>(row[k])});
  else
    for (int64_t k = 0; k < depth; ++k) sum += row[k];
  return sum;
}

}  // namespace

IntegerScratch::IntegerScratch(const IntegerStep& step, int lanes)
    : sums_row(round_up(
          std::min(step.block_columns, round_up(step.columns, kQuadColumns)),
          int64_t{lanes})) {
  const int64_t quads = weights::QuadLayout(step.depth, step.columns).quads;
  row_at = round_up(step.tile_rows * quads * kQuadRows, kLine);
  const int64_t row = step.depth_axes.size() > 1 ? step.depth : 0;
  starts_at = round_up(row_at + row, kLine);
  sums_at =
      round_up(starts_at + step.tile_rows * int64_t{sizeof(int32_t)}, kLine);
  bytes = sums_at + step.tile_rows * sums_row * int64_t{sizeof(int32_t)};
}

IntegerRun::IntegerRun(const IntegerStep& step, CpuLevel level)
    : step_(step),
      lanes_(weights::tile_shape(level).lanes),
      layout_(step.depth, step.columns),
      scratch_(step, lanes_),
      pieces_(step.depth_axes),
      accesses_(step.extras) {
  if (!pieces_.empty()) pieces_.pop_back();
  accesses_.insert(accesses_.end(), step.outputs.begin(), step.outputs.end());
  for (int vectors = 1; vectors * lanes_ <= step.tile_rows; ++vectors)
    forms_.push_back(
        {step.without_sizes(), vectors, weights::quad_group(step.weights)});
}

IntegerRun::Place IntegerRun::place_of(int64_t task) const {
  const int64_t row = task % step_.row_tiles() * step_.tile_rows;
  const int64_t column = task / step_.row_tiles() * step_.block_columns;
  return {row, std::min(step_.tile_rows, step_.rows - row), column,
          std::min(step_.block_columns, step_.columns - column)};
}

void IntegerRun::run(const StepCall& call, int64_t begin, int64_t end) const {
  std::vector<TileOperand> operands(accesses_.size());
  for (; begin < end; ++begin) run_task(call, place_of(begin), operands.data());
}

// Vectors that are not full repeat the last row, whose sums nobody reads. Sums
// of numbers that were moved are put right by what they begin with:
// sum (a - s)(b + t) = sum ab - s sum b + t sum (a - s).
void IntegerRun::pack_rows(const StepCall& call, const Place& place,
                           int vectors) const {
  const bool is_signed = step_.lhs == DType::i8;
  const int64_t rows = int64_t{vectors} * lanes_;
  const RowPacker packer{step_.depth, layout_.quads, rows * kQuadRows,
                         is_signed ? 0x80808080 : 0};
  auto* const starts =
      reinterpret_cast<int32_t*>(call.scratch + scratch_.starts_at);
  RowWalk walk(step_.row_axes, place.row);
  for (int64_t r = 0; r < rows; ++r) {
    const auto* const row =
        gathered(static_cast<const uint8_t*>(call.operands[0]) + walk.offset(),
                 call.scratch + scratch_.row_at);
    if (r + 1 < place.rows) walk.advance();
    packer.pack(row, call.scratch + r * kQuadRows);
    const uint32_t sum =
        step_.rhs == DType::u8 ? sum_of(row, step_.depth, is_signed) : 0;
    starts[r] = static_cast<int32_t>(sum * weights::kUnsignedShift);
  }
}

// The numbers of a row one after the other.
const uint8_t* IntegerRun::gathered(const uint8_t* from, std::byte* row) const {
  const std::vector<IntegerAxis>& axes = step_.depth_axes;
  if (axes.size() <= 1) return from;
  const int64_t length = axes.back().size;
  RowWalk walk(pieces_, 0);
  for (int64_t at = 0; at < step_.depth; at += length, walk.advance())
    std::memcpy(row + at, from + walk.offset(), static_cast<size_t>(length));
  return reinterpret_cast<const uint8_t*>(row);
}

void IntegerRun::place_operands(const StepCall& call, const Place& place,
                                TileOperand* operands) const {
  for (size_t i = 0; i < accesses_.size(); ++i) {
    const TileAccess& access = accesses_[i];
    const auto size = static_cast<int64_t>(dtype_size(access.dtype));
    operands[i] = {
        static_cast<std::byte*>(call.operands[2 + i]) +
            (place.row * access.row + place.column * access.column) * size,
        access.row * size};
  }
}

void IntegerRun::run_task(const StepCall& call, const Place& place,
                          TileOperand* operands) const {
  const int vectors = place.rows > lanes_ ? 2 : 1;
  pack_rows(call, place, vectors);
  place_operands(call, place, operands);
  const auto* const packed = static_cast<const std::byte*>(call.operands[1]);
  const auto* const ends =
      reinterpret_cast<const uint32_t*>(packed + layout_.ends_at);
  const int64_t group = place.column / kQuadColumns;
  const IntegerCall task{
      call.scratch,
      packed + layout_.quads_at + group * layout_.group_bytes(),
      reinterpret_cast<const int32_t*>(packed) + place.column,
      ends + group,
      packed + layout_.fixes_at,
      reinterpret_cast<const int32_t*>(call.scratch + scratch_.starts_at),
      reinterpret_cast<int32_t*>(call.scratch + scratch_.sums_at),
      operands,
      support::ceil_div(place.columns, kQuadColumns),
      layout_.quads,
      group == 0 ? 0 : ends[group - 1],
      scratch_.sums_row,
      place.rows,
      place.columns,
      step_.lhs == DType::i8 ? -kSignedShift : 0};
  code_[static_cast<size_t>(vectors - 1)](&task);
}

}  // namespace fxjit::program
