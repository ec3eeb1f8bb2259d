// Skeletons at levels that this machine lacks, on an emulated CPU: a few small
// cases of each, as instructions are what differs there. Tiles of f32 and of
// integers are with the tests of their own.
#include <gtest/gtest.h>

#include "tests/jit/attention_problem.h"
#include "tests/jit/blocked_problem.h"
#include "tests/jit/emulated.h"
#include "tests/jit/step_bodies.h"
#include "tests/jit/step_test_util.h"
#include "tests/jit/window_problem.h"
#include "tests/jit/winograd_problem.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::ColumnStep;
using program::RowStep;
using testing::apply;
using testing::check_step;
using testing::column_access;
using testing::row_access;

class EmulatedSkeletons : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::has_emulator()) GTEST_SKIP() << testing::emulator_absence();
    levels_ = testing::emulated_levels();
    if (levels_.empty()) GTEST_SKIP() << "this machine has all levels";
  }

  std::vector<CpuLevel> levels_;
};

TEST_F(EmulatedSkeletons, RowsOfElements) {
  for (const int64_t n : {1, 17, 70}) {
    ScalarBuilder b;
    const Scalar x = b.input(0, DType::f32), y = b.input(1, DType::f32);
    RowStep step;
    step.inner = n;
    step.inputs = {row_access({}, 1), row_access({}, 1)};
    step.outputs = {row_access({}, 1), row_access({}, 1, DType::boolean),
                    row_access({}, 1, DType::f16)};
    step.body = b.finish(
        {apply(Prim::sigmoid, x * y + 0.5) * apply(Prim::tanh, x - y),
         apply(Prim::lt, x, y), b.cast(x - y, DType::f16)});
    check_step(step, {.levels = levels_});
  }
}

TEST_F(EmulatedSkeletons, RowsOfSoftmax) {
  for (const int64_t n : {3, 40}) {
    ScalarBuilder b;
    RowStep step;
    step.outer = {3};
    step.inner = n;
    step.inputs = {row_access({n}, 1)};
    step.outputs = {row_access({n}, 1)};
    step.body = b.finish({testing::softmax(b.input(0, DType::f32))});
    check_step(step, {.levels = levels_});
  }
}

TEST_F(EmulatedSkeletons, Columns) {
  for (const DType type : {DType::f32, DType::i8, DType::i64})
    for (const int64_t columns : {1, 37}) {
      ScalarBuilder b;
      const Scalar x = b.input(0, type);
      ColumnStep step;
      step.reduce = {9};
      step.inner = columns;
      step.inputs = {column_access({}, {columns}, 1, type)};
      step.body = b.finish({testing::sum(x), testing::sum(x * x)});
      for (const int32_t id : step.body.results)
        step.outputs.push_back(column_access(
            {}, {0}, 1, step.body.instrs[static_cast<size_t>(id)].type));
      check_step(step, {.scale = 30, .levels = levels_});
    }
}

TEST_F(EmulatedSkeletons, Attention) {
  for (const CpuLevel level : levels_)
    for (const bool is_causal : {false, true})
      for (const auto& [queries, keys] : {std::pair{1, 19}, {18, 18}}) {
        program::AttentionStep step =
            testing::make_attention(queries, keys, 17, 20);
        step.causal = is_causal;
        testing::add_mask(step, passes::MaskKind::add, {0, 0, 0});
        testing::AttentionProblem problem(step);
        problem.run(level);
        problem.expect_right();
      }
}

TEST_F(EmulatedSkeletons, Windows) {
  using testing::WindowSizes;
  WindowSizes inner{1,         19,        1,         {1, 5, 6}, {1, 3, 3},
                    {1, 1, 1}, {1, 1, 1}, {0, 1, 1}};
  inner.channels_inner = true;
  WindowSizes greatest = inner;
  greatest.combine = program::WindowCombine::maximum;
  greatest.has_bias = false;
  const WindowSizes planes{1,         2,         1,         {1, 7, 20},
                           {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}};
  for (const CpuLevel level : levels_)
    for (const WindowSizes& sizes : {inner, greatest, planes}) {
      testing::WindowProblem problem(*testing::make_window(sizes, true), 0, 1);
      problem.run(level, 1);
      problem.expect_right();
    }
}

TEST_F(EmulatedSkeletons, Winograd) {
  for (const CpuLevel level : levels_)
    for (const int64_t tile : {2, 4}) {
      testing::WinogradProblem problem(
          testing::make_winograd({1, 5, 6, 17, 20, 1, tile}, true));
      problem.run(level);
      problem.expect_right(2e-5);
    }
}

// Few rows decode codes in registers, many once.
TEST_F(EmulatedSkeletons, WeightsInBlocks) {
  for (const CpuLevel level : levels_)
    for (const int bits : {2, 4, 8})
      for (const int64_t rows : {1, 3, 40})
        testing::expect_blocked_product(rows, bits, level);
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
