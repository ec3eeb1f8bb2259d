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

using Bytes = uint8_t __attribute__((vector_size(16)));

// Of quads of s8: magnitudes, and ones where numbers are below zero.
struct SignedQuads {
  Bytes magnitudes, signs;

  explicit SignedQuads(FourQuads quads) {
    constexpr uint8_t kMost = 127;
    const auto numbers = (Bytes)quads;
    signs = (Bytes)(numbers > kMost);
    magnitudes = (numbers ^ signs) - signs;
  }

  // For each quad the sum of the magnitudes of numbers below zero.
  FourQuads negative() const {
    const auto bytes = (FourQuads)(magnitudes & signs);
    const FourQuads pairs = (bytes & 0xff00ff) + (bytes >> 8 & 0xff00ff);
    return (pairs & 0xffff) + (pairs >> 16);
  }
};

// Each of the quads once for each column of a group.
void put_each(FourQuads quads, std::byte* to) {
  const FourQuads made[kSquare] = {
      __builtin_shufflevector(quads, quads, 0, 0, 0, 0),
      __builtin_shufflevector(quads, quads, 1, 1, 1, 1),
      __builtin_shufflevector(quads, quads, 2, 2, 2, 2),
      __builtin_shufflevector(quads, quads, 3, 3, 3, 3)};
  std::memcpy(to, made, sizeof(made));
}

}  // namespace

void RowPacker::pack_one(const uint8_t* from, std::byte* to) const {
  for (int64_t q = 0; q < quads; q += kSquare, to += kSquare * stride)
    put_each(load_quads(from + q * kQuadRows, flip), to);
}

int32_t RowPacker::pack_signs(const uint8_t* from, std::byte* to) const {
  FourQuads negative{};
  for (int64_t q = 0; q < quads; q += kSquare, to += kSquare * stride) {
    const SignedQuads made(load_quads(from + q * kQuadRows, flip));
    negative += made.negative();
    put_each((FourQuads)made.magnitudes, to);
    put_each((FourQuads)made.signs, to + quads * stride);
  }
  return static_cast<int32_t>(negative[0] + negative[1] + negative[2] +
                              negative[3]);
}

void RowPacker::split_signs(std::byte* packed, int32_t* lacking) const {
  const int64_t size = quads * stride;
  const int64_t step = int64_t{sizeof(FourQuads)};
  for (int64_t at = 0; at < stride; at += step) {
    FourQuads negative{};
    for (std::byte* to = packed + at; to < packed + size; to += stride) {
      FourQuads numbers;
      std::memcpy(&numbers, to, sizeof(numbers));
      const SignedQuads made(numbers);
      negative += made.negative();
      std::memcpy(to, &made.magnitudes, sizeof(made.magnitudes));
      std::memcpy(to + size, &made.signs, sizeof(made.signs));
    }
    for (int64_t i = 0; i < kSquare; ++i)
      *lacking++ += static_cast<int32_t>(negative[i]);
  }
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
