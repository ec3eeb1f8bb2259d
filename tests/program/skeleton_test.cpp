// What steps say of themselves to whoever walks a program.
#include "src/program/steps/skeleton.h"

#include <gtest/gtest.h>

#include "src/program/steps/steps.h"
#include "tests/support/analysed.h"

namespace fxjit::program {

// By googletest's rule, beside the struct.
static void PrintTo(const InPlacePair& pair, std::ostream* out) {
  *out << pair.read << " and " << pair.written;
}
static bool operator==(const InPlacePair& a, const InPlacePair& b) {
  return a.read == b.read && a.written == b.written;
}

namespace TEST_FILE {

using Pairs = std::vector<InPlacePair>;

Access access(Dims outer, Dims reduce, int64_t inner) {
  Access access;
  access.outer = outer;
  access.reduce = reduce;
  access.inner = inner;
  return access;
}

Pairs in_place(const StepBody& body) {
  return std::visit(
      Overloaded{[](const Skeleton auto& step) {
                   return analysed(step, CpuLevel::avx512).in_place();
                 },
                 [](const ExternStep&) { return Pairs(); }},
      body);
}

RowStep doubled_rows() {
  RowStep step;
  step.outer = {4};
  step.inner = 32;
  step.inputs = step.outputs = {access({32}, {}, 1)};
  ScalarBuilder b;
  const Scalar x = b.input(0, DType::f32);
  step.body = b.finish({x + x});
  return step;
}

// The sums over nine rows of [batch, 9, 40], and a residual of [batch, 40].
ColumnStep sums_and_residual() {
  ColumnStep step;
  step.outer = {3};
  step.reduce = {9};
  step.inner = 40;
  step.inputs = {access({360}, {40}, 1), access({40}, {0}, 1)};
  step.outputs = {access({40}, {0}, 1)};
  ScalarBuilder b;
  step.body = b.finish({b.apply(Prim::reduce_sum, b.input(0, DType::f32)) +
                        b.input(1, DType::f32)});
  return step;
}

TEST(InPlace, RowsThatLieAlike) {
  RowStep step = doubled_rows();
  EXPECT_EQ(in_place(step), (Pairs{{0, 1}}));
  step.outputs[0].outer = {64};
  EXPECT_EQ(in_place(step), Pairs());
}

TEST(InPlace, ColumnsOfInputsThatAreNotReduced) {
  ColumnStep step = sums_and_residual();
  EXPECT_EQ(in_place(step), (Pairs{{1, 2}}));
  step.inputs[1].reduce = {};  // None is as good as zero.
  EXPECT_EQ(in_place(step), (Pairs{{1, 2}}));
  step.inputs[1].outer = {0};
  EXPECT_EQ(in_place(step), Pairs());
}

TEST(InPlace, ColumnsOfTheLastResultAlone) {
  ColumnStep step = sums_and_residual();
  step.outputs.push_back(step.outputs[0]);
  step.body.results.push_back(step.body.results[0]);
  EXPECT_EQ(in_place(step), (Pairs{{1, 3}}));
}

TEST(InPlace, ColumnsWhoseInputIsAnIndexAreLeft) {
  ColumnStep step = sums_and_residual();
  step.inputs[0].gather_slot = 1;
  step.inputs[1].dtype = step.outputs[0].dtype = DType::i64;
  EXPECT_EQ(in_place(step), Pairs());
}

TEST(InPlace, EpiloguesOfProducts) {
  TileStep step;
  step.rows = 8;
  step.columns = 16;
  step.depth = step.lhs_row = 4;
  step.extras = {{DType::f32, 0, 0, 1}, {DType::f32, 0, 16, 1}};
  step.outputs = {{DType::f32, 0, 16, 1}};
  EXPECT_EQ(in_place(step), (Pairs{{3, 4}}));
}

TEST(Skeletons, SayWhatTheyAre) {
  EXPECT_STREQ(RowStep::kName, "rows");
  const ColumnStep step = analysed(sums_and_residual(), CpuLevel::avx2);
  EXPECT_EQ(step.written(), 1u);
  EXPECT_EQ(step.facts().front(),
            (std::pair<std::string, std::string>("outer", "[3]")));
  const StepPlan plan = step_plan(step, CpuLevel::avx2);
  EXPECT_EQ(plan.tasks, 3);
  EXPECT_EQ(step.kernels(CpuLevel::avx2).forms.size(), 1u);
}

}  // namespace TEST_FILE
}  // namespace fxjit::program
