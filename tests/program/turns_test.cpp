// Which steps take turns, and that none comes before what it reads.
#include "src/program/driver/turns.h"

#include <gtest/gtest.h>

#include <vector>

#include "src/program/steps/program.h"

namespace fxjit::program {
namespace TEST_FILE {

constexpr Machine kMachine{.level = CpuLevel::avx2,
                           .cache_bytes = int64_t{512} << 10};

struct Window {
  int64_t images = 1, height = 64, width = 64, channels = 256;
  int64_t taps = 3, stride = 1, pad = 1;
  int64_t rows() const { return (height + 2 * pad - taps) / stride + 1; }
  int64_t columns() const { return (width + 2 * pad - taps) / stride + 1; }
};

ScalarBody sum_alone() {
  ScalarBuilder b;
  return b.finish({b.input(0, DType::f32)});
}

TileStep product(int64_t rows, int64_t depth, int64_t columns) {
  TileStep step;
  step.rows = rows, step.columns = columns;
  step.depth = step.lhs_row = depth;
  step.outputs = {{DType::f32, 0, columns, 1}};
  step.epilogue = sum_alone();
  return step;
}

WindowStep window(const Window& w) {
  WindowStep step;
  step.channels_inner = true;
  step.outer = {w.images, 1, w.rows(), w.columns()};
  step.inner = w.channels;
  step.sizes = {1, w.height, w.width};
  step.taps = {1, w.taps, w.taps};
  step.strides = {1, w.stride, w.stride};
  step.dilations = {1, 1, 1};
  step.pads = {0, w.pad, w.pad};
  const int64_t row = w.width * w.channels;
  step.steps = {w.height * row, 1, 0, row, w.channels};
  Access out;
  out.outer = {w.rows() * w.columns() * w.channels, 0,
               w.columns() * w.channels, w.channels};
  step.outputs = {out};
  step.epilogue = sum_alone();
  return step;
}

// Buffers: input, middle, behind the window, result, and weights of each step.
Program chain(const Window& w, const Machine& machine = kMachine) {
  Program program;
  program.machine = machine;
  program.buffers.resize(7);
  const int64_t before = w.images * w.height * w.width;
  const int64_t after = w.images * w.rows() * w.columns();
  const std::vector<StepBody> bodies{product(before, 64, w.channels), window(w),
                                     product(after, w.channels, 64)};
  for (int32_t i = 0; i < 3; ++i) {
    StepBody body = bodies[static_cast<size_t>(i)];
    analyse(body, machine);
    Step step;
    step.body = body;
    step.operands = {{i}, {4 + i}, {i + 1}};
    program.steps.push_back(step);
  }
  return program;
}

TEST(Turns, ProductsAndWindowsOfLargeImages) {
  EXPECT_EQ(chains_of(chain({})), std::vector<Chain>({{0, 3}}));
  EXPECT_EQ(chains_of(chain({.images = 2, .stride = 2})),
            std::vector<Chain>({{0, 3}}));
  // What is between the last two fits the cache.
  EXPECT_EQ(chains_of(chain({.height = 32, .stride = 2})),
            std::vector<Chain>({{0, 2}}));
  EXPECT_TRUE(chains_of(chain({.height = 8, .width = 8})).empty());
}

TEST(Turns, OtherMachinesRunStepsWhole) {
  Machine machine = kMachine;
  machine.threads = 2;
  EXPECT_TRUE(chains_of(chain({}, machine)).empty());
  machine = kMachine;
  machine.level = CpuLevel::avx512;
  EXPECT_TRUE(chains_of(chain({}, machine)).empty());
  machine = kMachine;
  machine.cache_bytes = int64_t{8} << 20;
  EXPECT_TRUE(chains_of(chain({}, machine)).empty());
}

TEST(Turns, WeightsStayInTheCache) {
  EXPECT_EQ(chains_of(chain({.channels = 1024})), std::vector<Chain>({{0, 2}}));
  EXPECT_TRUE(chains_of(chain({.channels = 2048})).empty());
}

// What a later step reads besides, or writes, is no memory of an earlier one,
// but for a result that replaces the input place by place.
TEST(Turns, StepsStandApart) {
  Program program = chain({});
  program.steps[2].operands.insert(program.steps[2].operands.begin() + 2, {0});
  program.steps[2].operands.back() = {0};
  EXPECT_EQ(chains_of(program), std::vector<Chain>({{0, 3}}));
  program.steps[2].operands[2] = {1};
  EXPECT_EQ(chains_of(program), std::vector<Chain>({{0, 2}}));
  program = chain({});
  program.steps[2].operands.back() = {1};
  EXPECT_EQ(chains_of(program), std::vector<Chain>({{0, 2}}));
  program = chain({});
  program.steps[0].operands[1] = program.steps[2].operands.back();
  EXPECT_EQ(chains_of(program), std::vector<Chain>({{0, 2}}));
}

// Follows the turns of a chain by rows of the images.
class Follower {
 public:
  Follower(const Window& w, const Program& program)
      : w_(w),
        first_(std::get<TileStep>(*program.steps[0].body)),
        window_(std::get<WindowStep>(*program.steps[1].body)),
        last_(std::get<TileStep>(*program.steps[2].body)) {}

  void follow(const std::vector<Turn>& turns) {
    for (const Turn& turn : turns) {
      EXPECT_EQ(turn.begin, done_[turn.step]);
      EXPECT_LT(turn.begin, turn.end);
      done_[turn.step] = turn.end;
      if (turn.step == 1)
        for (int64_t t = turn.begin; t < turn.end; ++t) expect_read(t);
      if (turn.step == 2) expect_rows(turn.end);
    }
    EXPECT_EQ(done_[0], first_.plan(CpuLevel::avx2).tasks);
    EXPECT_EQ(done_[1], window_.plan(CpuLevel::avx2).tasks);
    EXPECT_EQ(done_[2], last_.plan(CpuLevel::avx2).tasks);
  }

 private:
  // The input of a task of the window: the rows of the middle under it.
  void expect_read(int64_t task) {
    const int64_t image = task / window_.code.row_blocks;
    const int64_t block = task % window_.code.row_blocks;
    const bool is_last = block + 1 == window_.code.row_blocks;
    const int64_t end =
        is_last ? w_.rows() : (block + 1) * window_.code.rows_of_block;
    for (int64_t tap = 0; tap < w_.taps; ++tap) {
      const int64_t row = (end - 1) * w_.stride - w_.pad + tap;
      if (row < 0 || row >= w_.height) continue;
      EXPECT_GE(first_.cut.starts[done_[0] / first_.cut.panels],
                (image * w_.height + row + 1) * w_.width);
    }
  }
  void expect_rows(int64_t tasks) {
    const int64_t images = done_[1] / window_.code.row_blocks;
    const int64_t rows =
        done_[1] % window_.code.row_blocks * window_.code.rows_of_block;
    EXPECT_LE(last_.cut.starts[tasks / last_.cut.panels],
              (images * w_.rows() + rows) * w_.columns());
  }

  const Window& w_;
  const TileStep first_;
  const WindowStep window_;
  const TileStep last_;
  int64_t done_[3] = {};
};

TEST(Turns, ComeAfterWhatTheyRead) {
  for (const Window& w :
       {Window{}, Window{.images = 3, .height = 37, .width = 61},
        Window{.images = 2, .taps = 5, .stride = 2, .pad = 2},
        Window{.height = 70, .taps = 7, .pad = 0},
        Window{.height = 70, .taps = 3, .pad = 3}}) {
    const Program program = chain(w);
    ASSERT_EQ(chains_of(program), std::vector<Chain>({{0, 3}}));
    const std::vector<Turn> turns = turns_of(program.steps);
    EXPECT_GT(turns.size(), 12u);
    Follower(w, program).follow(turns);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::program
