#include "src/weights/format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>

#include "fxjit/error.h"
#include "fxjit/half.h"
#include "src/support/rounding.h"
#include "src/weights/f28.h"
#include "src/weights/fixed.h"
#include "src/weights/narrow_panels.h"

namespace fxjit::weights {
namespace {

using support::round_up;

constexpr int64_t kAllRows = std::numeric_limits<int64_t>::max();

struct Facts {
  const char* name;
  int64_t bits;
  int64_t rows[3];  // See most_rows(); by level.
};
// By format.
constexpr Facts kFacts[] = {{"f32", 32, {kAllRows, kAllRows, kAllRows}},
                            {"f16", 16, {0, kAllRows, kAllRows}},
                            {"bf16", 16, {kAllRows, kAllRows, kAllRows}},
                            {"f28", 28, {0, 0, 3}},
                            {"fixed24", 24, {0, 2, 4}},
                            {"bytes", 8, {kAllRows, kAllRows, kAllRows}},
                            {"blocks", 0, {kAllRows, kAllRows, kAllRows}},
                            {"quads1", 8, {0, 0, 0}},
                            {"quads2", 8, {0, 0, 0}},
                            {"quads4", 8, {0, 0, 0}},
                            {"quads", 8, {0, 0, 0}},
                            {"tiles", 8, {0, 0, 0}}};

const Facts& facts_of(Format format) {
  const auto at = static_cast<size_t>(format);
  FXJIT_CHECK(at < std::size(kFacts), "weight format out of range");
  return kFacts[at];
}

// Bit by bit, so that NaN counts as exact where its bits are kept.
bool is_half(float value) {
  return std::bit_cast<uint32_t>(static_cast<float>(Half(value))) ==
         std::bit_cast<uint32_t>(value);
}

bool is_byte(float value) {
  return value >= -128 && value <= 127 && value == std::trunc(value);
}

bool is_bfloat16(float value) {
  return (std::bit_cast<uint32_t>(value) & 0xffff) == 0;
}

// Whether all weights are exact in a type; most are not by their first.
template <typename Is>
bool all_are(std::span<const PackSource> sources, int64_t depth, Is is) {
  for (const PackSource& source : sources) {
    const bool along_depth = source.depth_stride == 1;
    const int64_t lines = along_depth ? source.columns : depth;
    const int64_t count = along_depth ? depth : source.columns;
    const int64_t line_stride =
        along_depth ? source.column_stride : source.depth_stride;
    const int64_t stride = along_depth ? 1 : source.column_stride;
    for (int64_t l = 0; l < lines; ++l)
      for (int64_t i = 0; i < count; ++i)
        if (!is(source.data[l * line_stride + i * stride])) return false;
  }
  return true;
}

std::optional<Coding> try_format(std::span<const PackSource> sources,
                                 int64_t depth, Format format) {
  Coding coding{format, 0, {}, 0, {}};
  switch (format) {
    case Format::f32:
      return coding;
    case Format::bf16:
      if (all_are(sources, depth, is_bfloat16)) return coding;
      return std::nullopt;
    case Format::f16:
      if (all_are(sources, depth, is_half)) return coding;
      return std::nullopt;
    case Format::fixed24:
      coding.scales = find_scales(sources, depth);
      if (!coding.scales.empty()) return coding;
      return std::nullopt;
    case Format::f28:
      if (const auto first = find_exponents(sources, depth)) {
        coding.first_exponent = *first;
        return coding;
      }
      return std::nullopt;
    case Format::bytes:
      if (all_are(sources, depth, is_byte)) return coding;
      return std::nullopt;
    case Format::blocks:
    case Format::quads1:
    case Format::quads2:
    case Format::quads4:
    case Format::quads:
    case Format::tiles:
      break;  // Integers alone have them.
  }
  throw InternalError("weight format out of range");
}

void pack_bytes(const float* from, int64_t count, std::byte* out) {
  auto* to = reinterpret_cast<int8_t*>(out);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int8_t>(from[i]);
}

void pack_halves(const float* from, int64_t count, Format format,
                 std::byte* out) {
  auto* to = reinterpret_cast<uint16_t*>(out);
  for (int64_t i = 0; i < count; ++i)
    to[i] = format == Format::f16 ? Half(from[i]).bits : BFloat16(from[i]).bits;
}

}  // namespace

const char* format_name(Format format) { return facts_of(format).name; }

int64_t most_rows(Format format, CpuLevel level) {
  return facts_of(format).rows[static_cast<size_t>(level)];
}

Coding find_coding(std::span<const PackSource> sources, int64_t depth,
                   std::span<const Format> formats) {
  for (const Format format : formats)
    if (auto coding = try_format(sources, depth, format)) return *coding;
  return {};
}

int64_t panel_row_bytes(Format format, int64_t width) {
  return width * facts_of(format).bits / 8;
}

int64_t header_bytes(Format format, int64_t columns, int64_t width) {
  if (format == Format::f28) return kF28HeaderBytes;
  if (format == Format::fixed24) return round_up(columns, width) * 4;
  return 0;
}

int64_t packed_bytes(Format format, int64_t depth, int64_t columns,
                     int64_t width) {
  const int64_t bytes = outliers_at(format, depth, columns, width);
  return is_paired(format) ? bytes + outlier_bytes(depth, columns, width)
                           : bytes;
}

bool pack_matrix(std::span<const PackSource> sources, int64_t depth,
                 int64_t width, const Coding& coding, std::byte* out) {
  switch (coding.format) {
    case Format::f32:
      return pack_panels(sources, depth, width, reinterpret_cast<float*>(out));
    case Format::f28:
      pack_f28(sources, depth, width, coding.first_exponent, out);
      return false;
    case Format::fixed24:
      pack_fixed24(sources, depth, width, coding.scales, out);
      return false;
    case Format::f16:
    case Format::bf16:
    case Format::bytes:
      break;
    case Format::blocks:
    case Format::quads1:
    case Format::quads2:
    case Format::quads4:
    case Format::quads:
    case Format::tiles:
      throw InternalError("integers are packed in quads or blocks");
  }
  const int64_t count = packed_depth(depth) * width;
  for_panels(sources, depth, width, [&](int64_t number, const float* panel) {
    if (coding.format == Format::bytes)
      pack_bytes(panel, count, out + number * count);
    else
      pack_halves(panel, count, coding.format, out + number * count * 2);
  });
  return false;
}

}  // namespace fxjit::weights
