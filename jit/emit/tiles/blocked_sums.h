// Sums of products by weights in blocks (weights/blocks.h): codes become floats
// in registers, and the sums of a block of the depth are scaled as one; or a
// panel of them is decoded for many tiles. Used by the tile skeleton only.
#pragma once

#include <functional>

#include "jit/emit/tiles/weights.h"
#include "src/program/tiles/form.h"

namespace fxjit::jit {

class BlockedSums {
 public:
  BlockedSums(VectorBuilder& b, const program::TileForm& form,
              TileWeights& weights, Value* depth)
      : b_(b),
        form_(form),
        weights_(weights),
        depth_(depth),
        width_(weights::register_tile(b.level()).width()),
        vectors_(form.vectors * form.panels) {}

  // Of a tile, row by row, for the addresses of its rows and panels.
  Values of(const Values& rows, const Values& panels, const Values& zeros);

  // Writes the scaled numbers of a panel as rows of f32.
  void decode(Value* panel, Value* to);

 private:
  // Where a block lies, its first row of the depth and how many it has, and the
  // zero points of each vector; null without.
  struct Block {
    Value *first, *length;
    Values rows, panels, zeros;
  };
  using EachBlock = std::function<Values(const Block&, const Values&)>;
  // Changes what is carried, by row `k` of the block and its numbers.
  using EachRow = std::function<void(Values&, Value* k, const Values&)>;

  Values for_blocks(const Values& rows, const Values& panels,
                    const Values& carried, const EachBlock& each);
  Block block_at(const Values& rows, const Values& panels, Value* block);
  Value* panel_of(const Block& block, int vector) const {
    return block.panels[static_cast<size_t>(vector / form_.vectors)];
  }
  int64_t in_panel(int vector) const { return vector % form_.vectors; }
  Values for_rows(const Block& block, const Values& carried,
                  const EachRow& each);
  Values words_at(const Block& block, Value* k);
  Values scales_of(const Block& block);
  void add(Values& sums, const Block& block, Value* k, const Values& numbers);

  VectorBuilder& b_;
  const program::TileForm& form_;
  TileWeights& weights_;
  Value* depth_;
  int64_t width_;
  int vectors_;  // Of one row.
};

}  // namespace fxjit::jit
