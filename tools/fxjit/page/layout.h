// Places for the boxes of a graph: layers from top to bottom, every edge downwards,
// long edges led around boxes. Knows nothing of what the boxes stand for.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fxjit::command {

struct Box {
  double width = 0;
  double height = 0;
  double x = 0, y = 0;  // Of the upper left corner; set by lay_out.
};

struct Wire {
  int32_t from = 0, to = 0;
  // Corners from the lower edge of `from` to the upper edge of `to`, x and y in
  // turn; set by lay_out.
  std::vector<double> points;
};

struct Drawing {
  std::vector<Box> boxes;
  std::vector<Wire> wires;
  double width = 0, height = 0;
};

// Sets all places. Every wire must lead from a box to one with a greater number;
// UserError otherwise.
void lay_out(Drawing& drawing);

}  // namespace fxjit::command
