#include "fxjit/dims.h"

#include <gtest/gtest.h>

#include "fxjit/error.h"

namespace fxjit {
namespace TEST_FILE {

TEST(Dims, EditsInPlace) {
  Dims dims{2, 3};
  dims.push_back(5);
  dims.insert(1, 7);
  EXPECT_EQ(dims, (Dims{2, 7, 3, 5}));
  dims.erase(0);
  EXPECT_EQ(dims.str(), "[7, 3, 5]");
  dims.resize(1);
  dims.resize(3, 4);
  EXPECT_EQ(dims, (Dims{7, 4, 4}));
  EXPECT_EQ(Dims().str(), "[]");
}

TEST(Dims, RefusesRankAboveEight) {
  Dims dims(kMaxRank, 1);
  EXPECT_THROW(dims.push_back(1), UserError);
  EXPECT_THROW(Dims(9, 1), UserError);
}

TEST(Dims, CountsElementsWithoutOverflow) {
  const int64_t large = int64_t{1} << 40;
  EXPECT_EQ(numel({2, 3, 4}), 24);
  EXPECT_EQ(numel(Dims()), 1);
  EXPECT_EQ(numel({large, 0, large}), 0);
  EXPECT_THROW(numel({large, large}), UserError);
  EXPECT_THROW(contiguous_strides({1, large, large}), UserError);
}

TEST(Dims, ContiguousStrides) {
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Dims{4, 4, 1}));
  EXPECT_EQ(contiguous_strides({}), Dims());
}

TEST(Dims, Broadcasts) {
  EXPECT_EQ(broadcast_shapes({4, 1, 5}, {3, 1}), (Dims{4, 3, 5}));
  EXPECT_EQ(broadcast_shapes({}, {2}), (Dims{2}));
  EXPECT_EQ(broadcast_shapes({0, 1}, {1, 5}), (Dims{0, 5}));
  EXPECT_THROW(broadcast_shapes({0}, {3}), RuntimeError);
  try {
    broadcast_shapes({2, 3}, {4});
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.message(),
              "The size of tensor a (3) must match the size of tensor b (4) at "
              "non-singleton dimension 1");
  }
}

TEST(Dims, WrapsDimensions) {
  EXPECT_EQ(wrap_dim(-1, 3), 2);
  EXPECT_EQ(wrap_dim(-1, 0), 0);
  try {
    wrap_dim(3, 3);
    FAIL();
  } catch (const IndexError& error) {
    EXPECT_EQ(error.message(),
              "Dimension out of range (expected to be in range of [-3, 2], but "
              "got 3)");
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
