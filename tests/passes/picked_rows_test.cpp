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

struct Embedded : nn::Custom<Embedded> {
  explicit Embedded(int64_t width) : Custom("Embedded", {"x"}) {
    table = register_parameter("table", random_tensor({512, width}));
  }
  Value forward(Value x) {
    const Value positions = arange(method(x, "size", {1}));
    return F::embedding(positions, table) * 2 + x;
  }
  nn::Parameter table;
};

Passed with_positions(int64_t width) {
  return run_passes(fx::symbolic_trace(Embedded::create(width)),
                    {random_tensor({3, kPositions, width})});
}

// A linear layer with rows of its weight in another order.
struct Reordered : nn::Custom<Reordered> {
  Reordered() : Custom("Reordered", {"x"}) {
    weight = register_parameter("weight", random_tensor({64, 128}));
    std::vector<int64_t> turned;
    for (int64_t i = kPositions; i-- > 0;) turned.push_back(i);
    order = register_buffer(
        "order", Tensor::from(std::span<const int64_t>(turned), {kPositions}));
  }
  Value forward(Value x) {
    return F::linear(x, index_select(weight, 0, order));
  }
  nn::Parameter weight;
  nn::Buffer order;
};

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
  const Passed passed = run_passes(fx::symbolic_trace(Reordered::create()),
                                   {random_tensor({3, 128})});
  EXPECT_THAT(with_rows(passed, kPositions), SizeIs(1));
  EXPECT_EQ(wrong_result(passed), "");
}

}  // namespace TEST_FILE
}  // namespace fxjit
