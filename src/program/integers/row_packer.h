// Rows of a left-hand side as the tiles read them: quad by quad, those of all
// rows of a tile side by side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fxjit::program {

// Behind the depth zeros.
struct RowPacker {
  int64_t depth, quads;  // Of a row, in bytes; of a packed one.
  int64_t stride;        // Bytes from quad to quad.
  uint32_t flip;         // The bits of four numbers that are turned.

  // A row that is a tile: each quad once for each column of a group.
  void pack_one(const uint8_t* from, std::byte* to) const;
  // All rows, a multiple of four, that lie in runs of whole quads: `length`
  // bytes at each of `offsets` behind where a row begins. Zeros behind.
  void pack_all(std::span<const uint8_t* const> rows,
                std::span<const int64_t> offsets, int64_t length,
                std::byte* to) const;

 private:
  // `to` is the row's place in the first quad.
  void pack(const uint8_t* from, std::byte* to) const;
};

}  // namespace fxjit::program
