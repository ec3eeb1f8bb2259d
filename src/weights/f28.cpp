#include "src/weights/f28.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "src/weights/narrow_panels.h"

namespace fxjit::weights {
namespace {

constexpr int kExponents = 14;
constexpr uint32_t kOutlierCode = 15;
constexpr float kLeastNormal = 0x1p-126f;

uint32_t exponent_of(float value) {
  return std::bit_cast<uint32_t>(value) >> 23 & 0xff;
}

// How many weights have each exponent.
class ExponentCounts {
 public:
  void add(const float* first, int64_t count, int64_t stride) {
    // Neighbours often share an exponent; a counter each spares the wait.
    for (int64_t i = 0; i < count; ++i)
      ++counts_[i % kCounters][exponent_of(first[i * stride])];
    total_ += count;
  }

  // The first of 14 that hold most, and how many weights they leave out.
  std::pair<int, int64_t> best() const {
    std::array<int64_t, 256> counts{};
    for (const auto& some : counts_)
      for (size_t e = 0; e < counts.size(); ++e) counts[e] += some[e];
    int best = 1;
    int64_t most = -1, sum = 0;
    for (int last = 1; last < 255; ++last) {
      sum += counts[static_cast<size_t>(last)];
      const int first = last - kExponents + 1;
      if (first < 1) continue;
      if (sum > most) best = first, most = sum;
      sum -= counts[static_cast<size_t>(first)];
    }
    return {best, total_ - most - counts[0]};
  }

 private:
  static constexpr size_t kCounters = 4;
  int64_t total_ = 0;
  std::array<std::array<int64_t, 256>, kCounters> counts_{};
};

// Writes panels of f28 and keeps what does not fit.
class F28Writer {
 public:
  explicit F28Writer(int32_t first_exponent) : first_(first_exponent) {}

  const OutlierWriter& outliers() const { return outliers_; }

  void pack_panel(const float* from, int64_t depth, int64_t width,
                  std::byte* out) {
    const int64_t block = kPairedRows * panel_row_bytes(Format::f28, width);
    const int64_t vectors = width / kLanes;
    for (int64_t k = 0; k < depth; k += kPairedRows, out += block) {
      uint32_t codes[kLanes] = {};
      const int64_t rows = std::min(kPairedRows, depth - k);
      for (int64_t v = 0; v < rows * vectors; ++v)
        pack_vector({static_cast<uint32_t>(k + v / vectors),
                     static_cast<uint32_t>(v % vectors * kLanes)},
                    from + k * width + v * kLanes, 4 * v, codes,
                    out + kF28CodeBytes + v * kF28VectorBytes);
      std::memcpy(out, codes, sizeof codes);
    }
    outliers_.end_panel();
  }

 private:
  static constexpr int64_t kLanes = kF28CodeBytes / 4;
  struct Place {
    uint32_t depth, lane;
  };

  void pack_vector(const Place& place, const float* from, int64_t shift,
                   uint32_t* codes, std::byte* out) {
    uint32_t kept[kLanes], fresh[kLanes];
    bool fits = true;
    for (int64_t i = 0; i < kLanes; ++i) {
      const auto bits = std::bit_cast<uint32_t>(from[i]);
      const auto exponent = static_cast<int32_t>(bits >> 23 & 0xff);
      const int32_t code = exponent == 0 ? 0 : exponent - first_ + 1;
      fits &= exponent == 0 || (code >= 1 && code <= kExponents);
      fresh[i] = static_cast<uint32_t>(code);
      kept[i] = (bits & 0x7fffff) | bits >> 31 << 23;
    }
    if (!fits) put_outliers(place, from, fresh, kept);
    for (int64_t i = 0; i < kLanes; ++i) {
      codes[i] |= fresh[i] << shift;
      std::memcpy(out + 3 * i, &kept[i], 3);
    }
  }

  void put_outliers(const Place& place, const float* from, uint32_t* codes,
                    uint32_t* kept) {
    for (uint32_t i = 0; i < kLanes; ++i) {
      if (codes[i] <= kExponents && (codes[i] > 0 || exponent_of(from[i]) == 0))
        continue;
      const float lacking = from[i] - std::copysign(kLeastNormal, from[i]);
      if (lacking != 0) outliers_.add({place.depth, place.lane + i, lacking});
      codes[i] = kOutlierCode;
      kept[i] &= 0x800000;
    }
  }

  int32_t first_;
  OutlierWriter outliers_;
};

void write_exponents(int32_t first, std::byte* out) {
  for (int32_t code = 1; code <= kExponents; ++code) {
    const uint32_t bits = static_cast<uint32_t>(first + code - 1) << 23;
    std::memcpy(out + 4 * code, &bits, 4);
  }
  std::memcpy(out + 4 * kOutlierCode, &kLeastNormal, 4);
}

}  // namespace

std::optional<int32_t> find_exponents(std::span<const PackSource> sources,
                                      int64_t depth) {
  ExponentCounts counts;
  for (const PackSource& source : sources)
    if (source.depth_stride == 1)
      for (int64_t n = 0; n < source.columns; ++n)
        counts.add(source.data + n * source.column_stride, depth, 1);
    else
      for (int64_t k = 0; k < depth; ++k)
        counts.add(source.data + k * source.depth_stride, source.columns,
                   source.column_stride);
  const auto [first, left] = counts.best();
  if (left > most_outliers(depth, columns_of(sources))) return std::nullopt;
  return first;
}

void pack_f28(std::span<const PackSource> sources, int64_t depth, int64_t width,
              int32_t first_exponent, std::byte* out) {
  const int64_t columns = columns_of(sources);
  std::memset(
      out, 0,
      static_cast<size_t>(packed_bytes(Format::f28, depth, columns, width)));
  write_exponents(first_exponent, out);
  const int64_t bytes =
      packed_depth(depth) * panel_row_bytes(Format::f28, width);
  F28Writer writer(first_exponent);
  std::byte* at = out + kF28HeaderBytes;
  for_panels(sources, depth, width, [&](int64_t, const float* panel) {
    writer.pack_panel(panel, depth, width, at);
    at += bytes;
  });
  writer.outliers().write(depth, columns, at);
}

}  // namespace fxjit::weights
