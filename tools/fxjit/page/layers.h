// Layers of a drawing with bends: points that stand in for a wire in the layers
// that it passes. Wires of one box share their bends. Private to the layout.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/fxjit/page/layout.h"

namespace fxjit::command {

struct Neighbour {
  int32_t item;
  double pull;  // How much a bent line between the two hurts.
};

struct Item {
  int32_t box = -1;  // -1: a bend.
  int32_t layer = 0;
  double half = 0;  // Half of its width.
  double x = 0;     // Where its centre is.
  std::vector<Neighbour> above, below;
};

struct Layers {
  std::vector<Item> items;  // Boxes first, in their order; bends behind.
  std::vector<std::vector<int32_t>> rows;
  // By box: the first of its bends, one in each layer that follows it; -1
  // without any.
  std::vector<int32_t> first_bend;
  std::vector<int32_t> bends;  // By box: how many.
};

Layers make_layers(const Drawing& drawing);
// Puts the items of each row into an order in which few lines cross.
void order_rows(Layers& layers);
// Sets x of every item, rows in their order.
void place_items(Layers& layers);

}  // namespace fxjit::command
