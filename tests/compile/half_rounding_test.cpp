// Where values of half types are rounded although more is computed in f32:
// numbers that torch makes elements of, and what functions that jump are of.
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/half.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;

// Interpreted, each op rounds. The results here are exact in both.
template <typename Fn>
void expect_rounded(Fn f, const std::vector<float>& numbers, DType type,
                    const std::vector<float>& expected) {
  const Tensor x =
      Tensor::from(numbers, {static_cast<int64_t>(numbers.size())}).to(type);
  const auto gm = fx::symbolic_trace(f, {"x"});
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, testing::options_for(level));
    const ValueList inputs{x};
    for (const Value& result : {gm->forward(inputs), gm->interpret(inputs)}) {
      const Tensor got = result.as_tensor().to(DType::f32).contiguous();
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(got.data_as<float>()[i], expected[i])
            << i << " of " << dtype_name(type) << " at "
            << cpu_level_name(level);
    }
  }
}

// What is left of a tenth, rounded to bfloat16, without a tenth.
const float kLeft =
    static_cast<float>(BFloat16(static_cast<float>(BFloat16(0.1f)) - 0.1f));

TEST(HalfRounding, NumbersThatBecomeElements) {
  const std::vector<float> numbers = {1, -1};
  expect_rounded([](Value x) { return where(gt(x, 0), 0.1, x) - 0.1; }, numbers,
                 DType::bf16, {kLeft});
  expect_rounded([](Value x) { return where(gt(x, 0), x, 0.1) - 0.1; }, numbers,
                 DType::bf16, {0.8984375f, kLeft});
  expect_rounded([](Value x) { return masked_fill(x, gt(x, 0), 0.1) - 0.1; },
                 numbers, DType::bf16, {kLeft});
  expect_rounded([](Value x) { return full_like(x, 0.1) - 0.1; }, numbers,
                 DType::bf16, {kLeft, kLeft});
}

// 0.31640625^2 is above a tenth, but is rounded to what bfloat16 has for it.
TEST(HalfRounding, WhatShrinks) {
  const std::vector<float> numbers = {0.31640625f, 1};
  expect_rounded([](Value x) { return F::hardshrink(x * x, 0.1); }, numbers,
                 DType::bf16, {0, 1});
  expect_rounded([](Value x) { return F::softshrink(x * x, 0.1); }, numbers,
                 DType::bf16, {kLeft});
  expect_rounded([](Value x) { return F::hardshrink(x, 0.1); }, {0.1f, -0.1f},
                 DType::bf16, {0, 0});
}

// Others stay f32: one rounding, at the end.
TEST(HalfRounding, ChainsStaySingle) {
  const Tensor x = Tensor::from(std::vector<float>{0.31640625f}, {1});
  const auto gm =
      fx::symbolic_trace([](Value x) { return x * x - 0.1; }, {"x"});
  compile(*gm, testing::options_for(testing::host_levels().back()));
  const ValueList inputs{x.to(DType::bf16)};
  const Tensor got = gm->forward(inputs).as_tensor().to(DType::f32);
  EXPECT_EQ(got.data_as<float>()[0],
            static_cast<float>(BFloat16(0.31640625f * 0.31640625f - 0.1f)));
}

}  // namespace TEST_FILE
}  // namespace fxjit
