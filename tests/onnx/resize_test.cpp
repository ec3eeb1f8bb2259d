// Resize of integers that 8 bits do not hold, interpreted and compiled.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fxjit/compile.h"
#include "fxjit/onnx.h"
#include "tests/onnx/model_writer.h"

namespace fxjit::testing_onnx {
namespace TEST_FILE {

constexpr int64_t kInt16 = 5, kInt32 = 6, kInt64 = 7;

// A row of two numbers becomes one of four: what lies at -0.25, 0.25, 0.75 and
// 1.25 places.
template <typename T>
void expect_row(int64_t type, DType dtype, const std::vector<T>& row,
                const std::vector<T>& expected) {
  const Message call = node("Resize", {"x", "", "", "sizes"}, {"y"},
                            {text_attribute("mode", "linear")});
  const std::string path =
      write_model(model(graph({{call},
                               {value_info("x", type, {1, 1, 1, 2})},
                               {value_info("y", type, {1, 1, 1, 4})},
                               {int_tensor("sizes", {1, 1, 1, 4})}}),
                        19)
                      .bytes());
  for (const bool compiled : {false, true}) {
    const onnx::Program program = onnx::load(path);
    if (compiled) program.module->compile();
    const Tensor x = Tensor::empty({1, 1, 1, 2}, dtype);
    std::copy(row.begin(), row.end(), x.data_as<T>());
    const Tensor got = program.run({x}).as_tensor().contiguous();
    ASSERT_EQ(got.dtype(), dtype);
    ASSERT_EQ(got.numel(), 4);
    EXPECT_EQ(std::vector<T>(got.data_as<T>(), got.data_as<T>() + 4), expected)
        << (compiled ? "compiled" : "interpreted");
  }
}

TEST(OnnxResize, IntegersKeepTheirRange) {
  expect_row<int16_t>(kInt16, DType::i16, {1000, -2000},
                      {1000, 250, -1250, -2000});
  expect_row<int32_t>(kInt32, DType::i32, {100'000'004, 200'000'008},
                      {100'000'004, 125'000'005, 175'000'007, 200'000'008});
  expect_row<int64_t>(kInt64, DType::i64, {1LL << 40, 3LL << 40},
                      {1LL << 40, 3LL << 39, 5LL << 39, 3LL << 40});
}

}  // namespace TEST_FILE
}  // namespace fxjit::testing_onnx
