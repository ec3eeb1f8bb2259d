#include "tools/fxjit/page/layers.h"

#include <algorithm>
#include <numeric>

namespace fxjit::command {
namespace {

constexpr double kBendHalf = 4;
// Weights of lines: a long line that is straight is worth more than centred
// boxes.
constexpr double kBoxes = 1, kBoxAndBend = 2, kBends = 8;
// If the drawing would have more than kMostBends bends, wires over more layers
// than this are drawn straight.
constexpr int32_t kLongWire = 48;
constexpr int64_t kMostBends = 150'000;

// The layer of each box: one below the lowest box that it reads. A box that
// reads nothing stands one above the first box that reads it.
std::vector<int32_t> ranks_of(const Drawing& drawing) {
  const size_t count = drawing.boxes.size();
  std::vector<int32_t> rank(count), first_reader(count, INT32_MAX);
  std::vector<char> reads(count);
  std::vector<std::vector<int32_t>> inputs(count);
  for (const Wire& wire : drawing.wires)
    inputs[static_cast<size_t>(wire.to)].push_back(wire.from);
  for (size_t i = 0; i < count; ++i)
    for (const int32_t from : inputs[i])
      rank[i] = std::max(rank[i], rank[static_cast<size_t>(from)] + 1);
  for (const Wire& wire : drawing.wires) {
    reads[static_cast<size_t>(wire.to)] = 1;
    int32_t& first = first_reader[static_cast<size_t>(wire.from)];
    first = std::min(first, rank[static_cast<size_t>(wire.to)]);
  }
  for (size_t i = 0; i < count; ++i)
    if (!reads[i] && first_reader[i] != INT32_MAX)
      rank[i] = first_reader[i] - 1;
  return rank;
}

// For each box, the last layer that one of its bends is in; its own layer if it
// has none.
std::vector<int32_t> reaches_of(const Drawing& drawing,
                                const std::vector<int32_t>& rank) {
  const auto reach = [&](int32_t longest) {
    std::vector<int32_t> last = rank;
    for (const Wire& wire : drawing.wires) {
      const auto from = static_cast<size_t>(wire.from);
      const int32_t to = rank[static_cast<size_t>(wire.to)];
      if (to - rank[from] <= longest)
        last[from] = std::max(last[from], to - 1);
    }
    return last;
  };
  std::vector<int32_t> last = reach(INT32_MAX);
  int64_t bends = 0;
  for (size_t i = 0; i < rank.size(); ++i) bends += last[i] - rank[i];
  return bends > kMostBends ? reach(kLongWire) : last;
}

void join(Layers& layers, int32_t upper, int32_t lower) {
  Item& a = layers.items[static_cast<size_t>(upper)];
  Item& b = layers.items[static_cast<size_t>(lower)];
  const int bends = (a.box < 0) + (b.box < 0);
  const double pull = bends == 2 ? kBends : bends == 1 ? kBoxAndBend : kBoxes;
  a.below.push_back({lower, pull});
  b.above.push_back({upper, pull});
}

void add_bends(Layers& layers, int32_t box, int32_t last) {
  const int32_t rank = layers.items[static_cast<size_t>(box)].layer;
  layers.first_bend.push_back(
      last > rank ? static_cast<int32_t>(layers.items.size()) : -1);
  layers.bends.push_back(last - rank);
  int32_t upper = box;
  for (int32_t layer = rank + 1; layer <= last; ++layer) {
    const auto bend = static_cast<int32_t>(layers.items.size());
    layers.items.push_back({-1, layer, kBendHalf, 0, {}, {}});
    join(layers, upper, bend);
    upper = bend;
  }
}

// The item of the wire in the layer above its end: the box itself or its last
// bend.
int32_t before_end(const Layers& layers, const Wire& wire) {
  const auto from = static_cast<size_t>(wire.from);
  const int32_t span = layers.items[static_cast<size_t>(wire.to)].layer -
                       layers.items[from].layer;
  if (span < 2) return wire.from;
  if (span - 1 > layers.bends[from]) return -1;  // Drawn straight.
  return layers.first_bend[from] + span - 2;
}

// Sorts a row by the mean position of each item's neighbours on one side. Items
// without neighbours there keep their places.
void sort_row(Layers& layers, std::vector<int32_t>& row,
              std::vector<double>& place, bool from_above) {
  std::vector<std::pair<double, int32_t>> keyed;
  for (const int32_t index : row) {
    const Item& item = layers.items[static_cast<size_t>(index)];
    const auto& sides = from_above ? item.above : item.below;
    double sum = 0;
    for (const Neighbour& side : sides)
      sum += place[static_cast<size_t>(side.item)];
    const double key = sides.empty() ? place[static_cast<size_t>(index)]
                                     : sum / static_cast<double>(sides.size());
    keyed.emplace_back(key, index);
  }
  std::stable_sort(
      keyed.begin(), keyed.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < row.size(); ++i) row[i] = keyed[i].second;
  // Places are relative to the middle, so that rows of any length compare.
  const double middle = static_cast<double>(row.size() - 1) / 2;
  for (size_t i = 0; i < row.size(); ++i)
    place[static_cast<size_t>(row[i])] = static_cast<double>(i) - middle;
}

}  // namespace

Layers make_layers(const Drawing& drawing) {
  Layers layers;
  const std::vector<int32_t> rank = ranks_of(drawing);
  for (size_t i = 0; i < drawing.boxes.size(); ++i)
    layers.items.push_back({static_cast<int32_t>(i), rank[i],
                            drawing.boxes[i].width / 2, 0, {}, {}});
  const std::vector<int32_t> last = reaches_of(drawing, rank);
  for (size_t i = 0; i < drawing.boxes.size(); ++i)
    add_bends(layers, static_cast<int32_t>(i), last[i]);
  for (const Wire& wire : drawing.wires)
    if (const int32_t upper = before_end(layers, wire); upper >= 0)
      join(layers, upper, wire.to);
  for (size_t i = 0; i < layers.items.size(); ++i) {
    const auto layer = static_cast<size_t>(layers.items[i].layer);
    if (layers.rows.size() <= layer) layers.rows.resize(layer + 1);
    layers.rows[layer].push_back(static_cast<int32_t>(i));
  }
  return layers;
}

void order_rows(Layers& layers) {
  constexpr int kSweeps = 6;
  std::vector<double> place(layers.items.size());
  for (auto& row : layers.rows)
    for (size_t i = 0; i < row.size(); ++i)
      place[static_cast<size_t>(row[i])] =
          static_cast<double>(i) - static_cast<double>(row.size() - 1) / 2;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (auto& row : layers.rows) sort_row(layers, row, place, true);
    for (auto row = layers.rows.rbegin(); row != layers.rows.rend(); ++row)
      sort_row(layers, *row, place, false);
  }
  for (auto& row : layers.rows) sort_row(layers, row, place, true);
}

}  // namespace fxjit::command
