// Places the boxes of a graph in layers from top to bottom. Every wire leads
// downwards; long wires are led around boxes. Knows nothing of what the boxes
// stand for.
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
  // The corners of the line from the lower edge of `from` to the upper edge of
  // `to`, x and y in turn. Set by lay_out.
  std::vector<double> points;
};

struct Drawing {
  std::vector<Box> boxes;
  std::vector<Wire> wires;
  double width = 0, height = 0;
};

// Sets all places. Every wire must lead to a box with a greater number than its
// first one; throws UserError otherwise.
void lay_out(Drawing& drawing);

}  // namespace fxjit::command
