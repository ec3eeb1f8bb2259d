// Rows of a left-hand side as the tiles read them: quad by quad, those of all
// rows of a tile side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fxjit::program {

struct RowPacker {
  int64_t quads;         // Of a packed row.
  int64_t stride;        // Bytes from quad to quad.
  uint32_t flip;         // The bits of four numbers that are turned.

  // A row that is a tile, in whole quads, a multiple of four of them: each once
  // for each column of a group.
  void pack_one(const uint8_t* from, std::byte* to) const;
  // The same of magnitudes of s8, and behind them as much of signs, of which
  // each bit is one for numbers below zero. Returns the sum of magnitudes of
  // such numbers: weights that are inverted there lack it, as -w = ~w + 1.
  int32_t pack_signs(const uint8_t* from, std::byte* to) const;
  // Makes magnitudes of packed rows of s8, and writes their signs behind them.
  // Adds what pack_signs() returns to the number of each row.
  void split_signs(std::byte* packed, int32_t* lacking) const;
  // All rows, a multiple of four, that lie in runs of whole quads: `length`
  // bytes at each of `offsets` behind where a row begins. Zeros behind.
  void pack_all(std::span<const uint8_t* const> rows,
                std::span<const int64_t> offsets, int64_t length,
                std::byte* to) const;
};

}  // namespace fxjit::program
