#include "src/weights/format.h"

#include <bit>
#include <optional>

#include "fxjit/error.h"
#include "fxjit/half.h"
#include "src/weights/f28.h"
#include "src/weights/fixed.h"
#include "src/weights/narrow_panels.h"

namespace fxjit::weights {
namespace {

// Bit by bit, so that NaN counts as exact where its bits are kept.
bool is_half(float value) {
  return std::bit_cast<uint32_t>(static_cast<float>(Half(value))) ==
         std::bit_cast<uint32_t>(value);
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
  Coding coding{format, 0, {}};
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
  }
  throw InternalError("weight format out of range");
}

void pack_halves(const float* from, int64_t count, Format format,
                 std::byte* out) {
  auto* to = reinterpret_cast<uint16_t*>(out);
  for (int64_t i = 0; i < count; ++i)
    to[i] = format == Format::f16 ? Half(from[i]).bits : BFloat16(from[i]).bits;
}

}  // namespace

const char* format_name(Format format) {
  switch (format) {
    case Format::f32:
      return "f32";
    case Format::f16:
      return "f16";
    case Format::bf16:
      return "bf16";
    case Format::f28:
      return "f28";
    case Format::fixed24:
      return "fixed24";
  }
  throw InternalError("weight format out of range");
}

int64_t most_rows(Format format, CpuLevel level) {
  const bool avx512 = level == CpuLevel::avx512;
  const bool sse41 = level == CpuLevel::sse41;
  switch (format) {
    case Format::f32:
    case Format::bf16:
      return tile_shape(level).max_rows;
    case Format::f16:
      return sse41 ? 0 : tile_shape(level).max_rows;
    case Format::fixed24:
      return avx512 ? 4 : sse41 ? 0 : 2;
    case Format::f28:
      return avx512 ? 3 : 0;
  }
  throw InternalError("weight format out of range");
}

Coding find_coding(std::span<const PackSource> sources, int64_t depth,
                   std::span<const Format> formats) {
  for (const Format format : formats)
    if (auto coding = try_format(sources, depth, format)) return *coding;
  return {};
}

int64_t panel_row_bytes(Format format, int64_t width) {
  switch (format) {
    case Format::f32:
      return width * 4;
    case Format::f16:
    case Format::bf16:
      return width * 2;
    case Format::f28:
      return width * 7 / 2;
    case Format::fixed24:
      return width * 3;
  }
  throw InternalError("weight format out of range");
}

int64_t header_bytes(Format format, int64_t columns, int64_t width) {
  if (format == Format::f28) return kF28HeaderBytes;
  if (format == Format::fixed24)
    return (columns + width - 1) / width * width * 4;
  return 0;
}

int64_t packed_bytes(Format format, int64_t depth, int64_t columns,
                     int64_t width) {
  const int64_t panels = (columns + width - 1) / width;
  int64_t bytes = header_bytes(format, columns, width) +
                  panels * packed_depth(depth) * panel_row_bytes(format, width);
  if (is_paired(format)) bytes += outlier_bytes(depth, columns, width);
  return bytes;
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
      break;
  }
  const int64_t count = packed_depth(depth) * width;
  for_panels(sources, depth, width, [&](int64_t number, const float* panel) {
    pack_halves(panel, count, coding.format, out + number * count * 2);
  });
  return false;
}

}  // namespace fxjit::weights
