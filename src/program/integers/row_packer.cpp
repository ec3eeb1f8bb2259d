#include "src/program/integers/row_packer.h"

#include <algorithm>
#include <cstring>

#include "src/weights/quads.h"

namespace fxjit::program {
namespace {

using weights::kQuadColumns;
using weights::kQuadRows;

constexpr int64_t kSquare = 4;  // Rows and quads that are turned together.

using FourQuads = uint32_t __attribute__((vector_size(16)));

FourQuads load_quads(const uint8_t* from, uint32_t flip) {
  FourQuads quads;
  std::memcpy(&quads, from, sizeof(quads));
  return quads ^ flip;
}

// Four quads of four rows, turned so that those of all rows lie together.
void turn(const uint8_t* const* rows, int64_t offset, uint32_t flip,
          std::byte* to, int64_t stride) {
  const FourQuads a = load_quads(rows[0] + offset, flip);
  const FourQuads b = load_quads(rows[1] + offset, flip);
  const FourQuads c = load_quads(rows[2] + offset, flip);
  const FourQuads d = load_quads(rows[3] + offset, flip);
  const FourQuads ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const FourQuads cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const FourQuads ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const FourQuads cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const FourQuads turned[kSquare] = {
      __builtin_shufflevector(ab, cd, 0, 1, 4, 5),
      __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
      __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
      __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int64_t i = 0; i < kSquare; ++i)
    std::memcpy(to + i * stride, &turned[i], sizeof(turned[i]));
}

}  // namespace

void RowPacker::pack(const uint8_t* from, std::byte* to) const {
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

void RowPacker::pack_one(const uint8_t* from, std::byte* to) const {
  pack(from, to);
  for (int64_t q = 0; q < quads; ++q, to += stride)
    for (int64_t n = 1; n < kQuadColumns; ++n)
      std::memcpy(to + n * kQuadRows, to, kQuadRows);
}

void RowPacker::pack_all(std::span<const uint8_t* const> rows,
                         std::span<const int64_t> offsets, int64_t length,
                         std::byte* to) const {
  const auto count = static_cast<int64_t>(rows.size());
  const int64_t in_run = length / kQuadRows;
  for (const int64_t offset : offsets) {
    int64_t q = 0;
    for (; q + kSquare <= in_run; q += kSquare, to += kSquare * stride)
      for (int64_t r = 0; r < count; r += kSquare)
        turn(rows.data() + r, offset + q * kQuadRows, flip, to + r * kQuadRows,
             stride);
    for (; q < in_run; ++q, to += stride)
      for (int64_t r = 0; r < count; ++r) {
        uint32_t four;
        std::memcpy(&four,
                    rows[static_cast<size_t>(r)] + offset + q * kQuadRows,
                    sizeof(four));
        four ^= flip;
        std::memcpy(to + r * kQuadRows, &four, sizeof(four));
      }
  }
  const int64_t packed = static_cast<int64_t>(offsets.size()) * in_run;
  if (packed < quads)
    std::memset(to, 0, static_cast<size_t>((quads - packed) * stride));
}

}  // namespace fxjit::program
