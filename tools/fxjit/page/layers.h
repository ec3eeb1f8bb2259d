// The layers of a drawing. A wire that passes through layers has a bend, a
// point that stands for it, in each of them; the wires of one box share their
// bends. Private to the layout.
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
  // For each box, the first of its bends; the others follow it, one for each
  // layer. -1 if the box has none.
  std::vector<int32_t> first_bend;
  std::vector<int32_t> bends;  // By box: how many.
};

Layers make_layers(const Drawing& drawing);
// Orders the items of each row so that few lines cross.
void order_rows(Layers& layers);
// Sets the x of every item and keeps the order of each row.
void place_items(Layers& layers);

}  // namespace fxjit::command
