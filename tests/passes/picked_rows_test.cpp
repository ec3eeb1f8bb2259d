// Rows of a table that constants pick: read in each call where they are long,
// else a constant; stored indices put weights in order.
#include "tests/passes/pass_matchers.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::SizeIs;

constexpr int64_t kPositions = 40;

// The constants with so many elements in each of their last dims.
std::vector<Tensor> with_rows(const Passed& passed, int64_t rows) {
  std::vector<Tensor> found;
  for (const Tensor& t : passed.model.constants)
    if (t.defined() && t.dim() > 1 && t.size(-2) == rows) found.push_back(t);
  return found;
}

Passed with_positions(int64_t width) {
  const Tensor table = random_tensor({512, width});
  return run_passes(
      [&](Value x) { return F::embedding(arange(kPositions), table) * 2 + x; },
      {random_tensor({3, kPositions, width})});
}

TEST(PickedRows, LongOnesAreReadInEachCall) {
  const Passed passed = with_positions(128);
  EXPECT_THAT(with_rows(passed, kPositions), SizeIs(0));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(PickedRows, ShortOnesAreConstants) {
  const Passed passed = with_positions(8);
  EXPECT_THAT(with_rows(passed, kPositions), SizeIs(1));
  EXPECT_EQ(wrong_result(passed), "");
}

TEST(PickedRows, StoredIndicesPutWeightsInOrder) {
  const Tensor weight = random_tensor({64, 128});
  std::vector<int64_t> turned;
  for (int64_t i = kPositions; i-- > 0;) turned.push_back(i);
  const Tensor order =
      Tensor::from(std::span<const int64_t>(turned), {kPositions});
  const Passed passed = run_passes(
      [&](Value x) { return F::linear(x, index_select(weight, 0, order)); },
      {random_tensor({3, 128})});
  EXPECT_THAT(with_rows(passed, kPositions), SizeIs(1));
  EXPECT_EQ(wrong_result(passed), "");
}

}  // namespace TEST_FILE
}  // namespace fxjit
