#include "src/tensor/exact_int.h"

#include <gtest/gtest.h>

#include "fxjit/error.h"

namespace fxjit::support {
namespace TEST_FILE {

TEST(ExactInt, CalculatesAsIntegersDo) {
  const ExactInt seven = 7;
  EXPECT_EQ(seven + 2, 9);
  EXPECT_EQ(2 - seven, -5);
  EXPECT_EQ(seven * seven, 49);
  EXPECT_EQ(-seven / 2, -3);
  EXPECT_EQ(-seven % 2, -1);
  EXPECT_EQ(ExactInt(INT64_MIN) % -1, 0);
  ExactInt sum = 1;
  sum += seven;
  sum *= 3;
  sum -= 4;
  EXPECT_EQ(sum, 20);
  EXPECT_EQ(ExactInt(INT64_MAX) - 1 + 1, INT64_MAX);
}

TEST(ExactInt, RefusesWhatDoesNotFit) {
  const ExactInt least = INT64_MIN, most = INT64_MAX;
  EXPECT_THROW(most + 1, RuntimeError);
  EXPECT_THROW(least - 1, RuntimeError);
  EXPECT_THROW(ExactInt(int64_t{1} << 32) * (int64_t{1} << 32), RuntimeError);
  EXPECT_THROW(-least, RuntimeError);
  EXPECT_THROW(least / -1, RuntimeError);
  EXPECT_THROW(most / 0, RuntimeError);
  EXPECT_THROW(most % 0, RuntimeError);
  try {
    most * 2;
    FAIL() << "expected an error";
  } catch (const RuntimeError& error) {
    EXPECT_EQ(error.message(),
              "integer overflow: 9223372036854775807 * 2 does not fit 64 bits");
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::support
