#include "src/weights/fixed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "src/weights/narrow_panels.h"

namespace fxjit::weights {
namespace {

constexpr float kLargest = (1 << 23) - 1;
// The largest over the root mean square. The error of a product then is below
// 2.8e-7 of its factors' norms, what sums of f32 lose
// (docs/decisions/narrow_weights.md).
constexpr float kMostSpread = 8;
// Squares of lesser weights would lose bits, and scales overflow.
constexpr float kLeastTop = 0x1p-50f;
// The header's steps are those of numbers in the upper bits of their words,
// less what kFixedFactor takes off the factors.
constexpr float kHeaderFactor = 0x1p8f;
constexpr float kMostFinite = std::numeric_limits<float>::max();
constexpr size_t kChunk = 16;
constexpr int64_t kCopied = 16;
// Outliers hide lesser ones from the mean.
constexpr int kMostPasses = 4;

float step_of(float scale) { return scale == 0 ? 0 : 1 / scale; }

// `number` is a weight in steps, not yet rounded.
bool is_outlier(float number) { return !(std::abs(number) <= kLargest + 1); }

// The loops below are over plain arrays, each of one kind of work, for the
// compiler to use vectors.

// Sums over parts of a column, without the weights above a limit.
struct ColumnSums {
  std::array<float, kChunk> largest{}, squares{};

  void add(const float* values, size_t count, float limit) {
    for (size_t i = 0; i < count; ++i) {
      const float size = std::abs(values[i]);
      const float kept = size <= limit ? size : 0;
      largest[i] = largest[i] < kept ? kept : largest[i];
      squares[i] += kept * kept;
    }
  }
};

struct Column {
  float largest = 0, mean_square = 0;
};

Column look_at(const float* column, int64_t depth, float limit) {
  ColumnSums sums;
  const int64_t whole = depth / int64_t{kChunk} * int64_t{kChunk};
  for (int64_t k = 0; k < whole; k += kChunk)
    sums.add(column + k, kChunk, limit);
  sums.add(column + whole, static_cast<size_t>(depth - whole), limit);
  Column found;
  for (size_t i = 0; i < kChunk; ++i) {
    found.largest = std::max(found.largest, sums.largest[i]);
    found.mean_square += sums.squares[i] / static_cast<float>(depth);
  }
  return found;
}

// Steps in a unit of a column; nothing where its weights are too small, or
// large, or outliers are left whatever is taken for one.
std::optional<float> scale_of(const float* column, int64_t depth) {
  Column rest = look_at(column, depth, kMostFinite);
  if (rest.largest == 0) return 0.0f;
  for (int pass = 0; pass < kMostPasses; ++pass) {
    const float spread = kMostSpread * std::sqrt(rest.mean_square);
    if (!(spread <= kMostFinite) || rest.largest < kLeastTop)
      return std::nullopt;
    if (rest.largest <= spread) return kLargest / rest.largest;
    rest = look_at(column, depth, spread);
  }
  return std::nullopt;
}

// Adds the squares of a column's numbers to those of its rows, and returns how
// many are outliers.
int64_t add_squares(const float* __restrict column, int64_t depth, float scale,
                    float* __restrict squares) {
  int32_t outliers = 0;
  for (int64_t k = 0; k < depth; ++k) {
    const float number = column[k] * scale;
    const bool out = is_outlier(number);
    outliers += out ? 1 : 0;
    const float kept = out ? kLargest : number;
    squares[k] += kept * kept;
  }
  return outliers;
}

// Outliers become the largest number. Whether there are any.
bool round_numbers(const float* __restrict values,
                   const float* __restrict scales, int32_t* __restrict numbers,
                   int64_t count) {
  int32_t outliers = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float number = values[i] * scales[i];
    outliers |= is_outlier(number) ? 1 : 0;
    const float size = std::abs(number) + 0.5f;
    const float kept = size < kLargest ? size : kLargest;
    numbers[i] = static_cast<int32_t>(std::copysign(kept, number));
  }
  return outliers != 0;
}

// Weights that are not zero must not become so: infinite factors keep theirs.
void spare_zeros(const float* __restrict values, int32_t* __restrict numbers,
                 int64_t count) {
  int32_t lost = 0;
  for (int64_t i = 0; i < count; ++i)
    lost |= (numbers[i] == 0 ? 1 : 0) & (values[i] != 0 ? 1 : 0);
  if (lost == 0) return;
  for (int64_t i = 0; i < count; ++i)
    if (numbers[i] == 0 && values[i] != 0) numbers[i] = values[i] < 0 ? -1 : 1;
}

void interleave(const int32_t* __restrict numbers, int64_t quarter,
                uint32_t* __restrict words) {
  const int32_t* last = numbers + 3 * quarter;
  for (int64_t q = 0; q < 3; ++q)
    for (int64_t i = 0; i < quarter; ++i)
      words[q * quarter + i] =
          static_cast<uint32_t>(numbers[q * quarter + i]) << 8 |
          (static_cast<uint32_t>(last[i]) >> (16 - 8 * q) & 0xff);
}

// How the weights of a matrix spread, column by column.
class Survey {
 public:
  explicit Survey(int64_t depth)
      : depth_(depth), squares_(static_cast<size_t>(depth)) {}

  // False where the column has too small weights.
  bool add(const float* column) {
    const auto scale = scale_of(column, depth_);
    if (!scale) return false;
    scales_.push_back(*scale);
    outliers_ += add_squares(column, depth_, *scale, squares_.data());
    return true;
  }

  int64_t outliers() const { return outliers_; }
  std::vector<float> scales() && { return std::move(scales_); }

  // The root of the mean of largest^2 / mean square over rows that are not
  // zero: how much more the rounding of a product weighs when factors are large
  // where weights are small.
  double row_spread() const {
    double sum = 0;
    int64_t rows = 0;
    for (const float squares : squares_) {
      if (squares == 0) continue;
      sum += double{kLargest} * kLargest * static_cast<double>(scales_.size()) /
             squares;
      ++rows;
    }
    return rows == 0 ? 0 : std::sqrt(sum / static_cast<double>(rows));
  }

 private:
  int64_t depth_;
  std::vector<float> squares_, scales_;
  int64_t outliers_ = 0;
};

// Calls column(first) for all columns, copied where they are not contiguous,
// while it returns true.
template <typename Fn>
bool for_columns(const PackSource& source, int64_t depth, Fn column) {
  std::vector<float> copies;
  for (int64_t n0 = 0; n0 < source.columns; n0 += kCopied) {
    const int64_t count = std::min(kCopied, source.columns - n0);
    const float* first = source.data + n0 * source.column_stride;
    int64_t stride = source.column_stride;
    if (source.depth_stride != 1) {
      copies.resize(static_cast<size_t>(count * depth));
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t n = 0; n < count; ++n)
          copies[static_cast<size_t>(n * depth + k)] =
              first[k * source.depth_stride + n * stride];
      first = copies.data();
      stride = depth;
    }
    for (int64_t n = 0; n < count; ++n)
      if (!column(first + n * stride)) return false;
  }
  return true;
}

// Writes two rows of a panel at a time, by the scales of its columns.
class Fixed24Writer {
 public:
  Fixed24Writer(int64_t width, OutlierWriter& outliers)
      : width_(width),
        outliers_(outliers),
        numbers_(static_cast<size_t>(2 * width)) {}

  void set_scales(std::span<const float> scales) {
    scales_.assign(static_cast<size_t>(2 * width_), 0);
    std::copy(scales.begin(), scales.end(), scales_.begin());
    std::copy(scales.begin(), scales.end(), scales_.begin() + width_);
  }

  void write(const float* from, int64_t depth, std::byte* out) {
    const int64_t count = 2 * width_;
    if (round_numbers(from, scales_.data(), numbers_.data(), count))
      put_outliers(from, depth);
    spare_zeros(from, numbers_.data(), count);
    interleave(numbers_.data(), width_ / 2, reinterpret_cast<uint32_t*>(out));
  }

 private:
  void put_outliers(const float* from, int64_t depth) {
    for (int64_t i = 0; i < 2 * width_; ++i) {
      const auto at = static_cast<size_t>(i);
      if (!is_outlier(from[i] * scales_[at])) continue;
      const float kept =
          step_of(scales_[at]) * static_cast<float>(numbers_[at]);
      outliers_.add({static_cast<uint32_t>(depth + i / width_),
                     static_cast<uint32_t>(i % width_), from[i] - kept});
    }
  }

  int64_t width_;
  OutlierWriter& outliers_;
  std::vector<int32_t> numbers_;
  std::vector<float> scales_;
};

void write_header(std::span<const float> scales, int64_t bytes,
                  std::byte* out) {
  std::memset(out, 0, static_cast<size_t>(bytes));
  for (size_t n = 0; n < scales.size(); ++n) {
    const float step = step_of(scales[n]) * kHeaderFactor;
    std::memcpy(out + 4 * n, &step, 4);
  }
}

}  // namespace

std::vector<float> find_scales(std::span<const PackSource> sources,
                               int64_t depth) {
  Survey survey(depth);
  const int64_t most = most_outliers(depth, columns_of(sources));
  for (const PackSource& source : sources)
    if (!for_columns(source, depth, [&](const float* column) {
          return survey.add(column) && survey.outliers() <= most;
        }))
      return {};
  if (survey.row_spread() > double{kMostSpread}) return {};
  return std::move(survey).scales();
}

void pack_fixed24(std::span<const PackSource> sources, int64_t depth,
                  int64_t width, std::span<const float> scales,
                  std::byte* out) {
  const int64_t columns = columns_of(sources);
  const int64_t header = header_bytes(Format::fixed24, columns, width);
  write_header(scales, header, out);
  const int64_t block = kPairedRows * panel_row_bytes(Format::fixed24, width);
  OutlierWriter outliers;
  Fixed24Writer writer(width, outliers);
  std::byte* at = out + header;
  for_panels(sources, depth, width, [&](int64_t number, const float* panel) {
    const int64_t first = number * width;
    writer.set_scales(
        scales.subspan(static_cast<size_t>(first),
                       static_cast<size_t>(std::min(width, columns - first))));
    for (int64_t k = 0; k < packed_depth(depth); k += kPairedRows, at += block)
      writer.write(panel + k * width, k, at);
    outliers.end_panel();
  });
  outliers.write(depth, columns, at);
}

}  // namespace fxjit::weights
