// Reductions over a dim that is not the last one.

#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

template <typename Fn>
std::vector<std::string> regions_of(Fn fn, const Dims& sizes,
                                    bool serial = false) {
  passes::PipelineOptions options;
  options.serial = serial;
  const Passed passed = testing::run_passes_with(options, testing::trace(fn, 1),
                                                 {random_tensor(sizes, 1)});
  EXPECT_EQ(wrong_result(passed), "") << sizes.str();
  return regions(passed.model);
}

TEST(InnerRows, SoftmaxIsOneRegion) {
  const auto fn = [](Value x) { return softmax(relu(x), 1); };
  for (const Dims& sizes :
       {Dims{3, 20, 24}, Dims{3, 2, 16}, Dims{1, 7, 4, 8}, Dims{2, 512, 16},
        Dims{1, 2000, 70}, Dims{3, 20, 15}, Dims{64, 3, 2}, Dims{1, 20000, 8},
        Dims{3, 20, 1, 1}})
    EXPECT_THAT(regions_of(fn, sizes),
                ElementsAre("rows: relu+amax+sub+exp+sum+div"));
}

TEST(InnerRows, NormsAreOneRegion) {
  EXPECT_THAT(regions_of(
                  [](Value x) {
                    const Value centred = x - mean(x, 1, true);
                    return centred / sqrt(mean(centred * centred, 1, true));
                  },
                  {2, 30, 40}),
              SizeIs(1));
}

// What is only reduced is summed along the memory, many sums side by side.
TEST(InnerRows, LoneReductionsAreColumns) {
  EXPECT_THAT(regions_of([](Value x) { return sum(x, 1); }, {2, 30, 40}),
              ElementsAre("columns: sum"));
}

TEST(InnerRows, LongOnesWithoutNeighboursAreRows) {
  const auto fn = [](Value x) { return sum(x, 1); };
  EXPECT_THAT(regions_of(fn, {2, 513, 1}), ElementsAre("rows: sum"));
  EXPECT_THAT(regions_of(fn, {2, 512, 1}), ElementsAre("columns: sum"));
}

// Rows that no cache holds, and rows of one element.
TEST(InnerRows, OthersAreColumns) {
  const auto fn = [](Value x) { return softmax(x, 1); };
  for (const Dims& sizes : {Dims{1, 16385, 9}, Dims{3, 1, 40}, Dims{3, 1, 1}})
    EXPECT_THAT(regions_of(fn, sizes), Not(SizeIs(1))) << sizes.str();
}

// Long rows are read row by row only where that saves reading them once more,
// or where all neighbours are read at once: more of them where they fill no
// whole lines. That leaves few tasks where rows have no equal pieces. What is
// long depends on how many threads there are.
TEST(InnerRows, LongRowsThatAreReducedOnce) {
  const auto fn = [](Value x) { return x - amax(x, 1, true); };
  const auto rows = ElementsAre("rows: amax+sub");
  const auto apart = ElementsAre("columns: amax", "rows: sub");
  for (int64_t neighbours : {80, 257}) {
    EXPECT_THAT(regions_of(fn, {2, 512, neighbours}), rows);
    EXPECT_THAT(regions_of(fn, {2, 513, neighbours}), apart);
    EXPECT_THAT(regions_of(fn, {2, 513, neighbours}, /*serial=*/true), rows);
    EXPECT_THAT(regions_of(fn, {1, 4097, neighbours}, true), apart);
  }
  EXPECT_THAT(regions_of(fn, {1, 2000, 64}), rows);
  EXPECT_THAT(regions_of(fn, {1, 2003, 64}), apart);
  EXPECT_THAT(regions_of(fn, {4, 2000, 64}), rows);
  EXPECT_THAT(regions_of(fn, {4, 513, 255}), rows);
  EXPECT_THAT(regions_of(fn, {2, 513, 64}), rows);
}

TEST(InnerRows, RowsOfDifferentDimsStayApart) {
  EXPECT_THAT(
      regions_of([](Value x) { return softmax(softmax(x, 1), 2); },
                 {2, 20, 24}),
      ElementsAre("rows: amax+sub+exp+sum+div", "rows: amax+sub+exp+sum+div"));
}

TEST(InnerRows, PositionsStayApart) {
  const auto fn = [](Value x) { return softmax(tril(x), 1); };
  EXPECT_THAT(regions_of(fn, {2, 20, 24}), Not(SizeIs(1)));
}

}  // namespace TEST_FILE
}  // namespace fxjit
