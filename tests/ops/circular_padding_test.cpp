// Padding in a circle that takes elements away on one side.
#include <gtest/gtest.h>

#include <vector>

#include "fxjit/error.h"
#include "fxjit/functions.h"
#include "fxjit/functions_structured.h"

namespace fxjit {
namespace TEST_FILE {

std::vector<float> padded(int64_t before, int64_t after) {
  const Value x = Tensor::from(std::vector<float>{0, 1, 2, 3, 4}, {1, 1, 5});
  const Tensor y =
      nn::functional::pad(x, Value::list({before, after}), "circular")
          .as_tensor()
          .contiguous();
  return {y.data_as<float>(), y.data_as<float>() + y.numel()};
}

TEST(CircularPadding, GoesAroundWhatIsLeft) {
  using Row = std::vector<float>;
  EXPECT_EQ(padded(2, 0), (Row{3, 4, 0, 1, 2, 3, 4}));
  EXPECT_EQ(padded(2, -2), (Row{1, 2, 0, 1, 2}));
  EXPECT_EQ(padded(-1, 3), (Row{1, 2, 3, 4, 1, 2, 3}));
  EXPECT_EQ(padded(-2, -1), (Row{2, 3}));
  EXPECT_THROW(padded(-5, 5), Error);
}

}  // namespace TEST_FILE
}  // namespace fxjit
