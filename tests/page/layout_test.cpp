// Layouts: boxes apart, wires downwards, chains straight.
#include "tools/fxjit/page/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "fxjit/error.h"

namespace fxjit::command {
namespace TEST_FILE {

Drawing drawing_of(size_t boxes, std::vector<std::pair<int, int>> wires) {
  Drawing drawing;
  for (size_t i = 0; i < boxes; ++i)
    drawing.boxes.push_back({80 + 10.0 * static_cast<double>(i % 7), 40, 0, 0});
  for (const auto& [from, to] : wires)
    drawing.wires.push_back({from, to, {}});
  lay_out(drawing);
  return drawing;
}

void expect_apart(const Drawing& drawing) {
  for (size_t i = 0; i < drawing.boxes.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      const Box &a = drawing.boxes[i], &b = drawing.boxes[j];
      const bool apart = a.x >= b.x + b.width || b.x >= a.x + a.width ||
                         a.y >= b.y + b.height || b.y >= a.y + a.height;
      EXPECT_TRUE(apart) << "boxes " << i << " and " << j;
    }
}

void expect_wires_lead_down(const Drawing& drawing) {
  for (const Wire& wire : drawing.wires) {
    const Box& from = drawing.boxes[static_cast<size_t>(wire.from)];
    const Box& to = drawing.boxes[static_cast<size_t>(wire.to)];
    ASSERT_GE(wire.points.size(), 4u);
    EXPECT_NEAR(wire.points[0], from.x + from.width / 2, 1);
    EXPECT_NEAR(wire.points[1], from.y + from.height, 1);
    EXPECT_NEAR(wire.points[wire.points.size() - 2], to.x + to.width / 2, 1);
    EXPECT_NEAR(wire.points.back(), to.y, 1);
    for (size_t i = 3; i < wire.points.size(); i += 2)
      EXPECT_GE(wire.points[i], wire.points[i - 2]);
  }
}

TEST(Layout, AChainIsStraight) {
  const Drawing drawing = drawing_of(3, {{0, 1}, {1, 2}});
  for (const Wire& wire : drawing.wires) {
    EXPECT_EQ(wire.points.size(), 4u);
    EXPECT_NEAR(wire.points[0], wire.points[2], 1);
  }
  expect_wires_lead_down(drawing);
}

TEST(Layout, ALongWireGoesAroundBoxes) {
  const Drawing drawing = drawing_of(4, {{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  expect_apart(drawing);
  const Wire& wire = drawing.wires.back();
  for (size_t i = 0; i + 1 < wire.points.size(); i += 2)
    for (const size_t between : {1, 2}) {
      const Box& box = drawing.boxes[between];
      const bool inside =
          wire.points[i] > box.x && wire.points[i] < box.x + box.width &&
          wire.points[i + 1] > box.y && wire.points[i + 1] < box.y + box.height;
      EXPECT_FALSE(inside);
    }
}

TEST(Layout, WhatIsReadLateStandsLow) {
  const Drawing drawing = drawing_of(5, {{0, 2}, {2, 3}, {3, 4}, {1, 4}});
  EXPECT_GT(drawing.boxes[1].y, drawing.boxes[0].y);
}

TEST(Layout, RandomGraphs) {
  std::mt19937 random(7);
  for (int graph = 0; graph < 20; ++graph) {
    const size_t count = 1 + random() % 60;
    std::vector<std::pair<int, int>> wires;
    for (size_t to = 1; to < count; ++to)
      for (size_t k = random() % 3; k > 0; --k)
        wires.emplace_back(static_cast<int>(random() % to),
                           static_cast<int>(to));
    const Drawing drawing = drawing_of(count, wires);
    expect_apart(drawing);
    expect_wires_lead_down(drawing);
    for (const Box& box : drawing.boxes) {
      EXPECT_GE(box.x, 0);
      EXPECT_LE(box.x + box.width, drawing.width);
      EXPECT_LE(box.y + box.height, drawing.height);
    }
  }
}

// Every box reads the first one: no wire of so many may need bends of its own
// in each layer.
TEST(Layout, LargeGraphs) {
  constexpr int kBoxes = 20'000;
  std::vector<std::pair<int, int>> wires;
  for (int i = 1; i < kBoxes; ++i) {
    wires.emplace_back(i - 1, i);
    if (i > 1) wires.emplace_back(0, i);
    if (i > 300) wires.emplace_back(i - 300, i);
  }
  expect_wires_lead_down(drawing_of(kBoxes, wires));
}

TEST(Layout, NothingAndWrongWires) {
  EXPECT_GT(drawing_of(0, {}).height, 0);
  EXPECT_THROW(drawing_of(2, {{1, 0}}), UserError);
  EXPECT_THROW(drawing_of(2, {{0, 2}}), UserError);
  EXPECT_THROW(drawing_of(2, {{-1, 1}}), UserError);
}

}  // namespace TEST_FILE
}  // namespace fxjit::command
