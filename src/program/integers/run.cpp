#include "src/program/integers/run.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "fxjit/dims.h"
#include "src/support/machine/vector_lanes.h"
#include "src/support/rounding.h"

namespace fxjit::program {
namespace {

using support::round_up;
using weights::kQuadColumns;
using weights::kQuadRows;

constexpr int64_t kLine = 64;
// Of a task, on all levels.
constexpr int64_t kMostRows = 32;
// s8 rows are made u8 by so much, and u8 rows s8.
constexpr int32_t kSignedShift = 128;

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

// Where rows begin, from `row` on; behind the last of `count` it stands still.
void find_rows(const std::vector<IntegerAxis>& axes, const uint8_t* first,
               int64_t row, int64_t count, std::span<const uint8_t*> begins) {
  const auto places = static_cast<int64_t>(begins.size());
  if (axes.size() == 1) {
    for (int64_t r = 0; r < places; ++r)
      begins[r] = first + (row + std::min(r, count - 1)) * axes[0].stride;
    return;
  }
  RowWalk walk(axes, row);
  for (int64_t r = 0; r < places; ++r) {
    begins[r] = first + walk.offset();
    if (r + 1 < count) walk.advance();
  }
}

uint32_t sum_of(const uint8_t* row, int64_t depth, bool is_signed) {
  uint32_t sum = 0;
  if (is_signed)
    for (int64_t k = 0; k < depth; ++k)
      sum += static_cast<uint32_t>(int32_t{static_cast<int8_t>(row[k])});
  else
    for (int64_t k = 0; k < depth; ++k) sum += row[k];
  return sum;
}

// Whether the depth is runs of whole quads, and nobody asks for the sums of
// rows: these are packed from where they lie. Others are gathered first.
bool has_whole_runs(const IntegerStep& step) {
  if (step.rhs == DType::u8 || step.depth_axes.empty()) return false;
  const int64_t run =
      step.depth_axes.back().size * static_cast<int64_t>(dtype_size(step.lhs));
  return run > 0 && run % kQuadRows == 0;
}

// Whether tile registers are loaded from where the rows lie.
bool has_tile_rows(const IntegerStep& step) {
  return step.rhs != DType::u8 && step.row_axes.size() == 1 &&
         step.depth_axes.size() == 1 &&
         step.depth % (weights::kTileRows * kQuadRows) == 0;
}

bool is_gathered(const IntegerStep& step) {
  if (step.adds() == QuadSums::tiles) return !has_tile_rows(step);
  return step.tile_rows == 1 || !has_whole_runs(step);
}

// Of packed rows: none of tiles, which are loaded from rows.
int64_t packed_lines(const IntegerStep& step) {
  const QuadSums adds = step.adds();
  if (adds == QuadSums::tiles) return 0;
  const int64_t lines = step.tile_rows > 1 ? step.tile_rows : kQuadColumns;
  return adds == QuadSums::signs ? 2 * lines : lines;
}

// As memcpy, which takes longer for few bytes of a number that only the call
// knows.
void copy_run(const uint8_t* from, int64_t length, uint8_t* to) {
  constexpr int64_t kWord = sizeof(uint64_t), kMost = 64;
  if (length < kWord || length > kMost) {
    std::memcpy(to, from, static_cast<size_t>(length));
    return;
  }
  for (int64_t at = 0; at + kWord < length; at += kWord)
    std::memcpy(to + at, from + at, kWord);
  std::memcpy(to + length - kWord, from + length - kWord, kWord);
}

// Numbers of several bytes are as many bytes.
IntegerStep in_bytes(IntegerStep step) {
  const auto size = static_cast<int64_t>(dtype_size(step.lhs));
  for (auto* const axes : {&step.row_axes, &step.depth_axes})
    for (IntegerAxis& axis : *axes) axis.stride *= size;
  for (auto* const accesses : {&step.extras, &step.outputs})
    for (TileAccess& access : *accesses) {
      const auto bytes = static_cast<int64_t>(dtype_size(access.dtype));
      access.batch *= bytes, access.row *= bytes, access.column *= bytes;
    }
  if (!step.depth_axes.empty()) {
    step.depth_axes.back().stride = 1;
    step.depth_axes.back().size *= size;
  }
  step.lhs_batch *= size;
  step.depth *= size;
  return step;
}

}  // namespace

IntegerScratch::IntegerScratch(const IntegerStep& step, int lanes)
    : sums_row(round_up(
          std::min(step.block_columns, round_up(step.columns, kQuadColumns)),
          int64_t{lanes})) {
  const int64_t row =
      kQuadRows *
      weights::QuadLayout(step.depth_bytes(), step.columns, step.weights).quads;
  row_at = round_up(packed_lines(step) * row, kLine);
  row_bytes = is_gathered(step) ? row : 0;
  starts_at = round_up(row_at + step.tile_rows * row_bytes, kLine);
  sums_at =
      round_up(starts_at + step.tile_rows * int64_t{sizeof(int32_t)}, kLine);
  bytes = sums_at + step.tile_rows * sums_row * int64_t{sizeof(int32_t)};
}

IntegerRun::IntegerRun(const IntegerStep& step, CpuLevel level)
    : step_(in_bytes(step)),
      lanes_(step.lanes(level)),
      layout_(step.depth_bytes(), step.columns, step.weights),
      scratch_(step, lanes_),
      adds_(step.adds()),
      accesses_(step_.extras) {
  if (!step_.depth_axes.empty()) find_pieces();
  accesses_.insert(accesses_.end(), step_.outputs.begin(), step_.outputs.end());
  const int most = static_cast<int>(step.tile_rows / lanes_);
  for (int vectors = std::min(most, 1); vectors <= most; ++vectors)
    forms_.push_back({step.without_sizes(), vectors, adds_,
                      std::max(1, weights::quad_group(step.weights)),
                      has_starts(vectors),
                      adds_ == QuadSums::tiles && step.lhs == DType::i8});
}

void IntegerRun::find_pieces() {
  piece_ = step_.depth_axes.back().size;
  std::vector<IntegerAxis> pieces = step_.depth_axes;
  pieces.pop_back();
  RowWalk walk(pieces, 0);
  for (int64_t at = 0; at < step_.depth; at += piece_, walk.advance())
    piece_offsets_.push_back(walk.offset());
}

IntegerRun::Place IntegerRun::place_of(int64_t task) const {
  const int64_t row = task % step_.row_tiles() * step_.tile_rows;
  task /= step_.row_tiles();
  const int64_t column = task % step_.column_blocks() * step_.block_columns;
  return {task / step_.column_blocks(), row,
          std::min(step_.tile_rows, step_.rows - row), column,
          std::min(step_.block_columns, step_.columns - column)};
}

void IntegerRun::run(const StepCall& call, int64_t begin, int64_t end) const {
  std::vector<TileOperand> operands(accesses_.size());
  for (; begin < end; ++begin) run_task(call, place_of(begin), operands.data());
}

// Vectors that are not full repeat the last row, whose sums nobody reads. Sums
// of numbers that were moved are put right by what they begin with:
// sum (a - s)(b + t) = sum ab - s sum b + t sum (a - s).
IntegerRun::Rows IntegerRun::pack_rows(const StepCall& call, const Place& place,
                                       int vectors) const {
  const int64_t rows = vectors == 0 ? 1 : int64_t{vectors} * lanes_;
  auto* const starts =
      reinterpret_cast<int32_t*>(call.scratch + scratch_.starts_at);
  const auto* const first = static_cast<const uint8_t*>(call.operands[0]) +
                            place.batch * step_.lhs_batch;
  const uint8_t* places_of[kMostRows];
  std::span begins(places_of, static_cast<size_t>(rows));
  find_rows(step_.row_axes, first, place.row, place.rows, begins);
  std::fill_n(starts, rows, 0);
  if (adds_ == QuadSums::tiles) {
    begins = begins.first(static_cast<size_t>(place.rows));
    if (scratch_.row_bytes == 0)
      return {begins[0], step_.row_axes[0].stride};
    gather_rows(call, begins);
    return {begins[0], scratch_.row_bytes};
  }
  const RowPacker packer = row_packer(vectors);
  const Rows packed{reinterpret_cast<const uint8_t*>(call.scratch), 0};
  if (vectors > 0 && scratch_.row_bytes == 0 && !piece_offsets_.empty()) {
    packer.pack_all(begins, piece_offsets_, piece_, call.scratch);
    if (adds_ == QuadSums::signs) packer.split_signs(call.scratch, starts);
    return packed;
  }
  gather_rows(call, begins);
  if (vectors > 0) {
    packer.pack_all(begins, {{0}}, scratch_.row_bytes, call.scratch);
    if (adds_ == QuadSums::signs) packer.split_signs(call.scratch, starts);
  } else if (adds_ == QuadSums::signs) {
    starts[0] = static_cast<int32_t>(
        static_cast<uint32_t>(starts[0]) +
        static_cast<uint32_t>(packer.pack_signs(begins[0], call.scratch)));
  } else {
    packer.pack_one(begins[0], call.scratch);
  }
  return packed;
}

RowPacker IntegerRun::row_packer(int vectors) const {
  const int64_t places = vectors == 0 ? kQuadColumns : vectors * lanes_;
  const bool flips = (step_.lhs == DType::i8) != (adds_ == QuadSums::signs);
  return {layout_.quads, places * kQuadRows, flips ? 0x80808080 : 0};
}

// Where rows must be gathered, and what their sums begin with.
void IntegerRun::gather_rows(const StepCall& call,
                             std::span<const uint8_t*> rows) const {
  auto* start = reinterpret_cast<int32_t*>(call.scratch + scratch_.starts_at);
  auto* to = reinterpret_cast<uint8_t*>(call.scratch + scratch_.row_at);
  for (const uint8_t*& row : rows) {
    if (scratch_.row_bytes > 0) row = gathered(row, to);
    to += scratch_.row_bytes;
    if (step_.rhs == DType::u8)
      *start = static_cast<int32_t>(
          sum_of(row, step_.depth, step_.lhs == DType::i8) *
          weights::kUnsignedShift);
    ++start;
  }
}

// The numbers of a row one after the other, and zeros up to whole quads.
const uint8_t* IntegerRun::gathered(const uint8_t* from, uint8_t* row) const {
  const int64_t padding = layout_.multiple * kQuadRows;  // Or less.
  std::memset(row + scratch_.row_bytes - padding, 0,
              static_cast<size_t>(padding));
  uint8_t* to = row;
  for (const int64_t offset : piece_offsets_) {
    copy_run(from + offset, piece_, to);
    to += piece_;
  }
  return row;
}

void IntegerRun::place_operands(const StepCall& call, const Place& place,
                                TileOperand* operands) const {
  for (size_t i = 0; i < accesses_.size(); ++i) {
    const TileAccess& access = accesses_[i];
    operands[i] = {static_cast<std::byte*>(call.operands[2 + i]) +
                       place.batch * access.batch + place.row * access.row +
                       place.column * access.column,
                   access.row};
  }
}

// Tile registers take rows of u8 and of s8 as they are.
bool IntegerRun::has_starts(int vectors) const {
  if (adds_ == QuadSums::tiles && vectors > 0) return step_.rhs == DType::u8;
  return step_.lhs == DType::i8 || step_.rhs == DType::u8 ||
         adds_ == QuadSums::signs;
}

// Rows are u8 but for `signs`, for which they are s8.
int64_t IntegerRun::column_factor(int vectors) const {
  if (adds_ == QuadSums::tiles && vectors > 0) return 0;
  const bool is_signed = step_.lhs == DType::i8;
  if (adds_ == QuadSums::signs) return is_signed ? 0 : kSignedShift;
  return is_signed ? -kSignedShift : 0;
}

void IntegerRun::run_task(const StepCall& call, const Place& place,
                          TileOperand* operands) const {
  const int vectors = step_.tile_rows == 1 ? 0 : place.rows > lanes_ ? 2 : 1;
  const Rows rows = pack_rows(call, place, vectors);
  place_operands(call, place, operands);
  const auto* const packed =
      static_cast<const std::byte*>(call.operands[1]) +
      (step_.rhs_batched ? place.batch : 0) * layout_.bytes;
  const auto* const ends =
      reinterpret_cast<const uint32_t*>(packed + layout_.ends_at);
  const int64_t group = place.column / layout_.group_columns;
  const IntegerCall task{
      reinterpret_cast<const std::byte*>(rows.first),
      packed + layout_.quads_at + group * layout_.group_bytes(),
      reinterpret_cast<const int32_t*>(packed) + place.column,
      ends + group,
      packed + layout_.fixes_at,
      reinterpret_cast<const int32_t*>(call.scratch + scratch_.starts_at),
      reinterpret_cast<int32_t*>(call.scratch + scratch_.sums_at),
      operands,
      support::ceil_div(place.columns, layout_.group_columns),
      layout_.quads,
      group == 0 ? 0 : ends[group - 1],
      scratch_.sums_row,
      place.rows,
      place.columns,
      column_factor(vectors),
      rows.stride};
  code_[static_cast<size_t>(std::max(0, vectors - 1))](&task);
}

}  // namespace fxjit::program
