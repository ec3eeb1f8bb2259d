#include "src/program/weight_format.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "fxjit/error.h"
#include "fxjit/half.h"

namespace fxjit::program {
namespace {

constexpr int kExponents = 14;
constexpr uint32_t kOutlierCode = 15;
constexpr float kLeastNormal = 0x1p-126f;
constexpr int64_t kHeaderBytes = 64;
// Of so many weights one may be an outlier: they then cost little time.
constexpr int64_t kWeightsPerOutlier = 512;

int64_t panels_of(int64_t columns, int64_t width) {
  return (columns + width - 1) / width;
}

int64_t most_outliers(int64_t depth, int64_t columns) {
  return depth * columns / kWeightsPerOutlier;
}

int64_t panel_bytes(WeightFormat format, int64_t depth, int64_t width) {
  return packed_depth(depth) * panel_row_bytes(format, width);
}

uint32_t exponent_of(float value) {
  return std::bit_cast<uint32_t>(value) >> 23 & 0xff;
}

// Bit by bit, so that NaN counts as exact where its bits are kept.
bool is_half(float value) {
  return std::bit_cast<uint32_t>(static_cast<float>(Half(value))) ==
         std::bit_cast<uint32_t>(value);
}

// What the weights have in common.
class Survey {
 public:
  void add(const float* first, int64_t count, int64_t stride) {
    for (int64_t i = 0; i < count; ++i) {
      const float value = first[i * stride];
      lost_bits_ |= std::bit_cast<uint32_t>(value) & 0xffff;
      if (halves_) halves_ = is_half(value);
      // Neighbours often share an exponent; a counter each spares the wait.
      ++counts_[i % kCounters][exponent_of(value)];
    }
    total_ += count;
  }

  bool all_bfloat16() const { return lost_bits_ == 0; }
  bool all_halves() const { return halves_; }

  // The 14 exponents that hold most, and how many weights they leave out.
  std::pair<int, int64_t> exponents() const {
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
  uint32_t lost_bits_ = 0;
  bool halves_ = true;
  int64_t total_ = 0;
  std::array<std::array<int64_t, 256>, kCounters> counts_{};
};

void survey(const PackSource& source, int64_t depth, Survey& found) {
  if (source.depth_stride == 1)
    for (int64_t n = 0; n < source.columns; ++n)
      found.add(source.data + n * source.column_stride, depth, 1);
  else
    for (int64_t k = 0; k < depth; ++k)
      found.add(source.data + k * source.depth_stride, source.columns,
                source.column_stride);
}

// Panels of f32 one after the other: calls panel(number, floats).
template <typename Fn>
void for_panels(std::span<const PackSource> sources, int64_t depth,
                int64_t width, Fn panel) {
  std::vector<float> floats(static_cast<size_t>(packed_depth(depth) * width));
  std::vector<PackSource> pieces;
  int64_t number = 0, have = 0;
  const auto flush = [&] {
    pack_panels(pieces, depth, width, floats.data());
    panel(number++, floats.data());
    pieces.clear();
    have = 0;
  };
  for (const PackSource& source : sources)
    for (int64_t at = 0; at < source.columns;) {
      PackSource piece = source;
      piece.data += at * source.column_stride;
      piece.columns = std::min(width - have, source.columns - at);
      at += piece.columns;
      have += piece.columns;
      pieces.push_back(piece);
      if (have == width) flush();
    }
  if (have > 0) flush();
}

void pack_halves(const float* from, int64_t count, WeightFormat format,
                 std::byte* out) {
  auto* to = reinterpret_cast<uint16_t*>(out);
  for (int64_t i = 0; i < count; ++i)
    to[i] = format == WeightFormat::f16 ? Half(from[i]).bits
                                        : BFloat16(from[i]).bits;
}

// Writes panels of f28 and keeps what does not fit.
class F28Writer {
 public:
  explicit F28Writer(int32_t first_exponent) : first_(first_exponent) {}

  const std::vector<Outlier>& outliers() const { return outliers_; }

  void pack_panel(const float* from, int64_t depth, int64_t width,
                  std::byte* out) {
    const int64_t block = kF28Rows * panel_row_bytes(WeightFormat::f28, width);
    const int64_t vectors = width / kLanes;
    for (int64_t k = 0; k < depth; k += kF28Rows, out += block) {
      uint32_t codes[kLanes] = {};
      const int64_t rows = std::min(kF28Rows, depth - k);
      for (int64_t v = 0; v < rows * vectors; ++v)
        pack_vector({static_cast<uint32_t>(k + v / vectors),
                     static_cast<uint32_t>(v % vectors * kLanes)},
                    from + k * width + v * kLanes, 4 * v, codes,
                    out + kF28CodeBytes + v * kF28VectorBytes);
      std::memcpy(out, codes, sizeof codes);
    }
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
      if (lacking != 0)
        outliers_.push_back({place.depth, place.lane + i, lacking});
      codes[i] = kOutlierCode;
      kept[i] &= 0x800000;
    }
  }

  int32_t first_;
  std::vector<Outlier> outliers_;
};

void write_exponents(int32_t first, std::byte* out) {
  for (int32_t code = 1; code <= kExponents; ++code) {
    const uint32_t bits = static_cast<uint32_t>(first + code - 1) << 23;
    std::memcpy(out + 4 * code, &bits, 4);
  }
  std::memcpy(out + 4 * kOutlierCode, &kLeastNormal, 4);
}

void pack_f28(std::span<const PackSource> sources, int64_t depth, int64_t width,
              const WeightCoding& coding, std::byte* out) {
  int64_t columns = 0;
  for (const PackSource& source : sources) columns += source.columns;
  std::memset(out, 0,
              static_cast<size_t>(
                  packed_bytes(WeightFormat::f28, depth, columns, width)));
  write_exponents(coding.first_exponent, out);
  const int64_t bytes = panel_bytes(WeightFormat::f28, depth, width);
  const int64_t panels = panels_of(columns, width);
  std::byte* behind = out + kHeaderBytes + panels * bytes;
  F28Writer writer(coding.first_exponent);
  for_panels(sources, depth, width, [&](int64_t number, const float* panel) {
    writer.pack_panel(panel, depth, width, out + kHeaderBytes + number * bytes);
    const auto end = static_cast<uint32_t>(writer.outliers().size());
    std::memcpy(behind + number * 4, &end, 4);
  });
  FXJIT_CHECK(static_cast<int64_t>(writer.outliers().size()) <=
                  most_outliers(depth, columns),
              "weights were surveyed");
  if (!writer.outliers().empty())
    std::memcpy(behind + panels * 4, writer.outliers().data(),
                writer.outliers().size() * sizeof(Outlier));
}

}  // namespace

const char* weight_format_name(WeightFormat format) {
  switch (format) {
    case WeightFormat::f32:
      return "f32";
    case WeightFormat::f16:
      return "f16";
    case WeightFormat::bf16:
      return "bf16";
    case WeightFormat::f28:
      return "f28";
  }
  throw InternalError("weight format out of range");
}

WeightCoding find_coding(std::span<const PackSource> sources, int64_t depth,
                         CpuLevel level) {
  Survey found;
  int64_t columns = 0;
  for (const PackSource& source : sources) {
    survey(source, depth, found);
    columns += source.columns;
  }
  if (found.all_bfloat16()) return {WeightFormat::bf16};
  if (found.all_halves() && level != CpuLevel::sse41)
    return {WeightFormat::f16};
  const auto [first, left] = found.exponents();
  if (level == CpuLevel::avx512 && left <= most_outliers(depth, columns))
    return {WeightFormat::f28, first};
  return {};
}

int64_t panel_row_bytes(WeightFormat format, int64_t width) {
  switch (format) {
    case WeightFormat::f32:
      return width * 4;
    case WeightFormat::f16:
    case WeightFormat::bf16:
      return width * 2;
    case WeightFormat::f28:
      return width * 7 / 2;
  }
  throw InternalError("weight format out of range");
}

int64_t header_bytes(WeightFormat format) {
  return format == WeightFormat::f28 ? kHeaderBytes : 0;
}

int64_t packed_bytes(WeightFormat format, int64_t depth, int64_t columns,
                     int64_t width) {
  const int64_t panels = panels_of(columns, width);
  int64_t bytes =
      header_bytes(format) + panels * panel_bytes(format, depth, width);
  // Whole vectors are read: the last one's end lies behind the panels.
  if (format == WeightFormat::f28)
    bytes +=
        panels * 4 +
        most_outliers(depth, columns) * static_cast<int64_t>(sizeof(Outlier)) +
        kF28CodeBytes;
  return bytes;
}

void pack_weights(std::span<const PackSource> sources, int64_t depth,
                  int64_t width, const WeightCoding& coding, std::byte* out) {
  if (coding.format == WeightFormat::f32)
    return pack_panels(sources, depth, width, reinterpret_cast<float*>(out));
  if (coding.format == WeightFormat::f28)
    return pack_f28(sources, depth, width, coding, out);
  const int64_t count = packed_depth(depth) * width;
  for_panels(sources, depth, width, [&](int64_t number, const float* panel) {
    pack_halves(panel, count, coding.format, out + number * count * 2);
  });
}

Outliers::Outliers(const std::byte* packed, int64_t depth, int64_t columns,
                   int64_t width) {
  const int64_t panels = panels_of(columns, width);
  const std::byte* behind =
      packed + kHeaderBytes +
      panels * panel_bytes(WeightFormat::f28, depth, width);
  ends_ = reinterpret_cast<const uint32_t*>(behind);
  first_ = reinterpret_cast<const Outlier*>(behind + panels * 4);
}

std::span<const Outlier> Outliers::of_panel(int64_t panel) const {
  const uint32_t begin = panel == 0 ? 0 : ends_[panel - 1];
  return {first_ + begin, first_ + ends_[panel]};
}

}  // namespace fxjit::program
