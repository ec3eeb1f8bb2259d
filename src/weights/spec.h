// What a packed weight is made of, as plain data. Programs name their weights
// so; the store makes memory of it.
#pragma once

#include <cstdint>
#include <vector>

#include "src/tensor/tensor_spec.h"
#include "src/weights/format.h"
#include "src/weights/windows.h"

namespace fxjit::weights {

// A part of a packed weight: a view of one constant, [K, N] in a product.
struct PackPiece {
  int32_t constant = -1;
  TensorSpec view;
  int64_t offset = 0;  // From the constant's first element, in elements.

  friend bool operator==(const PackPiece&, const PackPiece&) = default;
};

// A weight to pack.
struct PackSpec {
  std::vector<PackPiece> pieces;
  // Each piece is a matrix of its own, packed behind the last one; else they
  // stand side by side in one.
  bool batched = false;
  // Tile size of the Winograd transform (see winograd.h), or 0 for a plain
  // matrix. If set, there is one piece, of shape [features, channels, 3,
  // 3], of i8 or a type of floats, and depth and columns are unused.
  int64_t winograd_tile = 0;
  // If used, there is one piece [results, taps] of any dims, of which depth and
  // columns are unused.
  WindowLayout windows = {};
  // Formats to choose from, best first, if the numbers fit one of them; else
  // the weight is kept as f32.
  std::vector<Format> formats;
  // If there are blocks, the pieces are their codes, scales [blocks, columns]
  // and, if there are any, zero points, as blocks.h has them.
  StoredCodes codes = {};
  int64_t depth = 0;
  int64_t columns = 0;

  friend bool operator==(const PackSpec&, const PackSpec&) = default;
};

// The numbers that a piece is made of; `constants` are those of the program.
inline Tensor view_of(const PackPiece& piece,
                      const std::vector<Tensor>& constants) {
  const Tensor& whole = constants[static_cast<size_t>(piece.constant)];
  return whole.as_strided(piece.view.sizes, piece.view.strides,
                          whole.offset() + piece.offset);
}

}  // namespace fxjit::weights
