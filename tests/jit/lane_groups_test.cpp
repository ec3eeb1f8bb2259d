// Which rows are computed side by side, and how their memory is walked.
#include <gtest/gtest.h>

#include <set>

#include "src/program/rows/form.h"
#include "tests/jit/lane_steps.h"
#include "tests/support/analysed.h"

namespace fxjit::jit::testing {
namespace TEST_FILE {

// One thread takes all neighbours at once, of which others would take parts.
TEST(LaneGroups, OneThreadTakesItemsWhole) {
  for (int64_t rows : {33, 64, 125})
    for (int64_t inner : {2000, 2003}) {
      ScalarBuilder b;
      RowStep step = lanes_step(1, inner, rows);
      const Scalar x = b.input(0, DType::f32);
      step.body = b.finish({normalised(x, inner)});
      const auto rows_of_group = [&](CpuLevel level) {
        return program::analysed(step, level).code.lanes.rows;
      };
      const int64_t parted = rows_of_group(CpuLevel::avx512);
      step.serial = true;
      if (rows <= 64)
        EXPECT_EQ(rows_of_group(CpuLevel::avx512), rows);
      else
        EXPECT_GT(rows_of_group(CpuLevel::avx512), parted);
      check_step(step, {.units = 64});
    }
}

// Many neighbours are taken at once where they fill no whole lines.
TEST(LaneGroups, UnevenNeighboursAreTakenWhole) {
  for (int64_t rows : {100, 125, 196, 250}) {
    ScalarBuilder b;
    RowStep step = lanes_step(4, 90, rows);
    const Scalar x = b.input(0, DType::f32);
    step.outputs.push_back(row_access({rows, 1}, 0));
    step.body = b.finish({normalised(x, 90), sum(x)});
    for (CpuLevel level : {CpuLevel::avx2, CpuLevel::avx512})
      EXPECT_EQ(program::analysed(step, level).code.lanes.rows, rows);
    check_step(step, {.units = 64, .scale = 20});
  }
  EXPECT_LT(program::analysed(lanes_step(4, 90, 128), CpuLevel::avx512)
                .code.lanes.rows,
            128);
}

// Outputs hold what large row buffers would, and inputs may be there, too.
TEST(LaneGroups, LargeBuffersAreInResults) {
  for (auto [inner, rows] :
       {std::pair{2500, 63}, {2500, 64}, {1500, 101}, {70001, 2}}) {
    ScalarBuilder b;
    RowStep step = lanes_step(4, inner, rows);
    step.body = b.finish({softmax(b.input(0, DType::f32))});
    const program::RowCode code = program::analysed(step, CpuLevel::avx2).code;
    EXPECT_EQ(code.schedule.buffers.at(0).result, 0);
    EXPECT_EQ(code.scratch_bytes(), 0u);
    check_step(step, {.units = 256});
    expect_works_in_place(step);
  }
}

// So are those of a group of some neighbours, unless the lines of its positions
// push each other out of the cache; code for the one is not taken for the
// other.
TEST(LaneGroups, BuffersOfGroupsAreInResults) {
  std::set<std::string> keys;
  for (auto [rows, result] :
       {std::pair{530, 0}, {650, 0}, {512, -1}, {384, -1}}) {
    ScalarBuilder b;
    RowStep step = lanes_step(1, 512, rows);
    step.serial = true;
    step.body = b.finish({softmax(b.input(0, DType::f32))});
    const program::RowForm form = program::row_form(
        program::analysed(step, CpuLevel::avx512), CpuLevel::avx512);
    EXPECT_EQ(form.code.schedule.buffers.at(0).result, result) << rows;
    EXPECT_TRUE(form.code.lanes.asks_ahead);
    keys.insert(program::form_key(form));
    check_step(step, {.units = 64});
    expect_works_in_place(step);
  }
  EXPECT_EQ(keys.size(), 2u);
}

// Of rows without row buffers more neighbours are taken at once.
TEST(LaneGroups, ManyNeighboursAreTakenWhole) {
  const auto rows_of_group = [](int64_t inner, bool exponents) {
    ScalarBuilder b;
    RowStep step = lanes_step(4, inner, 530);
    step.serial = true;
    const Scalar x = b.input(0, DType::f32);
    step.body = b.finish({exponents ? softmax(x) : normalised(x, inner)});
    check_step(step, {.units = 64});
    return program::analysed(step, CpuLevel::avx512).code.lanes.rows;
  };
  EXPECT_EQ(rows_of_group(200, false), 530);
  EXPECT_LT(rows_of_group(200, true), 530);
  EXPECT_LT(rows_of_group(60, false), 530);
}

// Caches hold few rows.
TEST(LaneGroups, LargeStepsAskAhead) {
  const auto asks = [](int64_t batch, int64_t inner, int64_t rows) {
    ScalarBuilder b;
    RowStep step = lanes_step(batch, inner, rows);
    step.body = b.finish({softmax(b.input(0, DType::f32))});
    return program::analysed(step, CpuLevel::avx512).code.lanes.asks_ahead;
  };
  EXPECT_FALSE(asks(4, 50, 16));
  EXPECT_TRUE(asks(100, 50, 16));
  EXPECT_FALSE(asks(1, 256, 512));
  EXPECT_TRUE(asks(4, 256, 512));
}

// Of rows that the caches do not hold every other pass goes from the last
// position to the first: groups, all neighbours, and positions that share
// vectors, of which the last round is not full.
TEST(LaneGroups, PassesTurn) {
  const auto turns = [](int64_t inner, int64_t rows) {
    ScalarBuilder b;
    RowStep step = lanes_step(1, inner, rows);
    step.serial = true;
    step.body = b.finish({normalised(b.input(0, DType::f32), inner)});
    check_step(step, {.units = 128});
    expect_works_in_place(step);
    return program::analysed(step, CpuLevel::avx512).code.lanes.turns;
  };
  EXPECT_TRUE(turns(515, 1024));
  EXPECT_TRUE(turns(500, 300));
  EXPECT_TRUE(turns(7001, 20));
  EXPECT_FALSE(turns(129, 1024));
  EXPECT_FALSE(turns(515, 250));
}

// What all neighbours read is in no group's lines.
TEST(LaneGroups, RepeatedInputsDoNotWidenGroups) {
  const auto rows_of_group = [](bool weighted) {
    ScalarBuilder b;
    RowStep step = lanes_step(8, 192, 784);
    Scalar y = normalised(b.input(0, DType::f32), 192);
    if (weighted) {
      step.inputs.push_back(row_access({0, 0}, 1));
      y = y * b.input(1, DType::f32);
    }
    step.body = b.finish({y});
    return program::analysed(step, CpuLevel::avx512).code.lanes.rows;
  };
  EXPECT_EQ(rows_of_group(true), rows_of_group(false));
}

// Many vectors of a long body would be much code.
TEST(LaneGroups, LongBodiesGoInGroups) {
  ScalarBuilder b;
  RowStep step = lanes_step(4, 90, 250);
  Scalar y = normalised(b.input(0, DType::f32), 90);
  for (int i = 0; i < 6; ++i) y = apply(Prim::gelu, y);
  step.body = b.finish({y});
  for (CpuLevel level : {CpuLevel::sse41, CpuLevel::avx2, CpuLevel::avx512})
    EXPECT_LT(program::analysed(step, level).code.lanes.rows, 250);
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit::testing
