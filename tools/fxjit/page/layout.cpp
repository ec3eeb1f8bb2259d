#include "tools/fxjit/page/layout.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "fxjit/error.h"
#include "tools/fxjit/page/layers.h"

namespace fxjit::command {
namespace {

constexpr double kRowGap = 34, kMargin = 24;

void check(const Drawing& drawing) {
  const auto count = static_cast<int32_t>(drawing.boxes.size());
  for (const Wire& wire : drawing.wires)
    if (wire.from < 0 || wire.from >= wire.to || wire.to >= count)
      throw UserError("[layout] wire from " + std::to_string(wire.from) +
                      " to " + std::to_string(wire.to) + " of " +
                      std::to_string(count) + " boxes");
}

struct LayerRow {
  double top = 0;
  double bottom = 0;
};

std::vector<LayerRow> rows_of(const Drawing& drawing, const Layers& layers) {
  std::vector<LayerRow> rows;
  double y = kMargin;
  for (const auto& row : layers.rows) {
    double height = 0;
    for (const int32_t index : row)
      if (layers.items[static_cast<size_t>(index)].box >= 0)
        height =
            std::max(height, drawing.boxes[static_cast<size_t>(index)].height);
    rows.push_back({y, y + height});
    y += height + kRowGap;
  }
  return rows;
}

void add_point(std::vector<double>& points, double x, double y) {
  points.push_back(std::round(x));
  points.push_back(std::round(y));
}

void draw(Wire& wire, const Drawing& drawing, const Layers& layers,
          const std::vector<LayerRow>& rows) {
  const auto from = static_cast<size_t>(wire.from);
  const auto to = static_cast<size_t>(wire.to);
  const Box &a = drawing.boxes[from], &b = drawing.boxes[to];
  wire.points.clear();
  add_point(wire.points, a.x + a.width / 2, a.y + a.height);
  const int32_t span = layers.items[to].layer - layers.items[from].layer;
  if (span - 1 <= layers.bends[from])
    for (int32_t i = 0; i + 1 < span; ++i) {
      const Item& bend =
          layers.items[static_cast<size_t>(layers.first_bend[from] + i)];
      const LayerRow& row = rows[static_cast<size_t>(bend.layer)];
      add_point(wire.points, bend.x, row.top);
      add_point(wire.points, bend.x, row.bottom);
    }
  add_point(wire.points, b.x + b.width / 2, b.y);
}

// Points on a vertical line between two others say nothing.
void simplify(std::vector<double>& points) {
  std::vector<double> kept;
  const size_t count = points.size() / 2;
  for (size_t i = 0; i < count; ++i) {
    const double x = points[2 * i];
    if (i > 0 && i + 1 < count && points[2 * i - 2] == x &&
        points[2 * i + 2] == x)
      continue;
    kept.push_back(x);
    kept.push_back(points[2 * i + 1]);
  }
  points = std::move(kept);
}

}  // namespace

void lay_out(Drawing& drawing) {
  check(drawing);
  Layers layers = make_layers(drawing);
  order_rows(layers);
  place_items(layers);
  const std::vector<LayerRow> rows = rows_of(drawing, layers);
  double least = 0, most = 0;
  for (size_t i = 0; i < layers.items.size(); ++i) {
    const Item& item = layers.items[i];
    least = i == 0 ? item.x - item.half : std::min(least, item.x - item.half);
    most = i == 0 ? item.x + item.half : std::max(most, item.x + item.half);
  }
  for (Item& item : layers.items) item.x += kMargin - least;
  for (size_t i = 0; i < drawing.boxes.size(); ++i) {
    const Item& item = layers.items[i];
    drawing.boxes[i].x = std::round(item.x - item.half);
    drawing.boxes[i].y = rows[static_cast<size_t>(item.layer)].top;
  }
  for (Wire& wire : drawing.wires) {
    draw(wire, drawing, layers, rows);
    simplify(wire.points);
  }
  drawing.width = most - least + 2 * kMargin;
  drawing.height = (rows.empty() ? kMargin : rows.back().bottom) + kMargin;
}

}  // namespace fxjit::command
