// Places items within their rows: each as near to its neighbours in other rows
// as the other items of its row allow.
#include <algorithm>

#include "tools/fxjit/page/layers.h"

namespace fxjit::command {
namespace {

constexpr double kGap = 18;

double distance(const Item& left, const Item& right) {
  return left.half + kGap + right.half;
}

// Items that stand side by side without room between them, at the place that is
// best for all of them together.
struct Block {
  // The weighted sum of the wanted places, each less its distance from the
  // block's first item.
  double sum = 0;
  double weight = 0;
  size_t first = 0;
  double place() const { return sum / weight; }
};

// Finds the places nearest to `wanted` (by least weighted squares) that keep
// the row's order and least distances. Neighbours that want the same place are
// merged into blocks.
void place_row(Layers& layers, const std::vector<int32_t>& row,
               const std::vector<double>& wanted,
               const std::vector<double>& weights) {
  std::vector<double> before(row.size());  // Least distance from the first.
  std::vector<Block> blocks;
  for (size_t i = 0; i < row.size(); ++i) {
    if (i > 0)
      before[i] = before[i - 1] +
                  distance(layers.items[static_cast<size_t>(row[i - 1])],
                           layers.items[static_cast<size_t>(row[i])]);
    blocks.push_back({weights[i] * (wanted[i] - before[i]), weights[i], i});
    while (blocks.size() > 1 &&
           blocks[blocks.size() - 2].place() > blocks.back().place()) {
      Block& into = blocks[blocks.size() - 2];
      into.sum += blocks.back().sum;
      into.weight += blocks.back().weight;
      blocks.pop_back();
    }
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    const size_t end = b + 1 < blocks.size() ? blocks[b + 1].first : row.size();
    for (size_t i = blocks[b].first; i < end; ++i)
      layers.items[static_cast<size_t>(row[i])].x =
          blocks[b].place() + before[i];
  }
}

enum class Side { above, below, both };

void pull_row(Layers& layers, const std::vector<int32_t>& row, Side side) {
  constexpr double kLoose = 0.01;  // The weight of items joined to nothing.
  std::vector<double> wanted, weights;
  for (const int32_t index : row) {
    const Item& item = layers.items[static_cast<size_t>(index)];
    double sum = 0, weight = 0;
    const auto add = [&](const std::vector<Neighbour>& sides) {
      for (const Neighbour& other : sides) {
        sum += other.pull * layers.items[static_cast<size_t>(other.item)].x;
        weight += other.pull;
      }
    };
    if (side != Side::below) add(item.above);
    if (side != Side::above) add(item.below);
    wanted.push_back(weight > 0 ? sum / weight : item.x);
    weights.push_back(std::max(weight, kLoose));
  }
  place_row(layers, row, wanted, weights);
}

// Moves bends of one box that stand nearly above each other into one vertical
// line. Each moves by less than the room between it and its neighbours.
void straighten(Layers& layers, size_t box) {
  constexpr double kMost = 12;
  const auto bend = [&](int32_t i) -> double& {
    return layers.items[static_cast<size_t>(layers.first_bend[box] + i)].x;
  };
  for (int32_t first = 0, end; first < layers.bends[box]; first = end) {
    double least = bend(first), most = least;
    for (end = first; end < layers.bends[box]; ++end) {
      const double x = bend(end);
      if (std::max(most, x) - std::min(least, x) > kMost) break;
      least = std::min(least, x);
      most = std::max(most, x);
    }
    for (int32_t i = first; i < end; ++i) bend(i) = (least + most) / 2;
  }
}

}  // namespace

void place_items(Layers& layers) {
  constexpr int kSweeps = 6;
  for (const auto& row : layers.rows) {
    const std::vector<double> zeros(row.size()), ones(row.size(), 1.0);
    place_row(layers, row, zeros, ones);
  }
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const Side down = sweep + 1 < kSweeps ? Side::above : Side::both;
    for (auto row = layers.rows.rbegin(); row != layers.rows.rend(); ++row)
      pull_row(layers, *row, Side::below);
    for (const auto& row : layers.rows) pull_row(layers, row, down);
  }
  for (size_t box = 0; box < layers.bends.size(); ++box)
    straighten(layers, box);
}

}  // namespace fxjit::command
