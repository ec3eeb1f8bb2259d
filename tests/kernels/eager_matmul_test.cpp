// Products of the interpreter through ops::run_matmul.
#include <gtest/gtest.h>

#include "kernels/kernels.h"
#include "kernels/onednn/eager.h"
#include "src/ops/eager/matmul.h"
#include "tests/kernels/kernel_test_util.h"

namespace fxjit::kernels::testing {
namespace TEST_FILE {

using ops::MatmulArgs;

struct Case {
  int64_t batch, rows, depth, columns;
};

MatmulArgs args_of(const Tensor& a, const Tensor& b, const Tensor& bias,
                   const Tensor& c) {
  MatmulArgs args;
  args.dtype = c.dtype();
  args.batch = c.size(0);
  args.rows = c.size(1);
  args.columns = c.size(2);
  args.depth = a.size(2);
  args.a = a.data(), args.b = b.data(), args.c = c.data();
  args.a_batch = a.stride(0), args.a_row = a.stride(1);
  args.a_depth = a.stride(2);
  args.b_batch = b.stride(0), args.b_depth = b.stride(1);
  args.b_column = b.stride(2);
  args.c_batch = c.stride(0), args.c_row = c.stride(1);
  if (bias.defined()) {
    args.bias = bias.data();
    args.bias_stride = bias.stride(0);
  }
  return args;
}

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return 4e-3;
    case DType::f16:
      return 5e-4;
    default:
      return 1e-6;
  }
}

// The kernel must take the product itself: a refusal is a failure here.
void expect_product(const Tensor& a, const Tensor& b, const Tensor& bias) {
  const Tensor c = Tensor::empty({a.size(0), a.size(1), b.size(2)}, a.dtype());
  ASSERT_TRUE(onednn::eager_matmul(args_of(a, b, bias, c)));
  EXPECT_LT(relative_error(c, product_oracle(a, b, bias)), tolerance(a.dtype()))
      << a.describe() << " x " << b.describe();
}

class EagerMatmul : public ::testing::TestWithParam<Case> {};

TEST_P(EagerMatmul, EqualsTheSumsInDouble) {
  const auto [batch, rows, depth, columns] = GetParam();
  for (DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    const Tensor a = random_tensor({batch, rows, depth}, dtype, 1);
    const Tensor b = random_tensor({batch, depth, columns}, dtype, 2);
    const Tensor bias = random_tensor({columns}, dtype, 3);
    expect_product(a, b, Tensor());
    expect_product(a, b, bias);
    expect_product(transposed_copy(a), b, bias);
    expect_product(a, transposed_copy(b), Tensor());
    expect_product(transposed_copy(a), transposed_copy(b), bias);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, EagerMatmul,
    ::testing::Values(Case{1, 64, 64, 64}, Case{1, 1, 300, 257},
                      Case{1, 133, 100, 1}, Case{1, 17, 1, 900},
                      Case{1, 5, 777, 63}, Case{1, 200, 384, 130},
                      Case{1, 16, 256, 1536}, Case{1, 1500, 64, 40},
                      Case{7, 33, 65, 31}, Case{12, 128, 32, 128}));

TEST(EagerMatmulStrides, SharedMatricesAndOddSteps) {
  const Tensor a = random_tensor({4, 40, 96}, DType::f32, 1);
  const Tensor b = random_tensor({1, 96, 80}, DType::f32, 2);
  const Tensor shared = b.as_strided({4, 96, 80}, {0, 80, 1}, 0);
  expect_product(a, shared, Tensor());
  expect_product(a.as_strided({4, 40, 96}, {0, 96, 1}, 0),
                 random_tensor({4, 96, 80}), Tensor());
  // Every second element of longer rows and columns.
  const Tensor wide = random_tensor({4, 80, 192}, DType::f32, 4);
  expect_product(wide.as_strided({4, 40, 96}, {80 * 192, 384, 2}, 1), shared,
                 Tensor());
  // Overlapping rows, as an unfolded signal has.
  expect_product(wide.as_strided({1, 60, 50}, {0, 3, 1}, 0),
                 random_tensor({1, 50, 70}), Tensor());
  // One number as the bias of all columns; rows all the same.
  const Tensor number = random_tensor({1}).as_strided({80}, {0}, 0);
  expect_product(a.as_strided({4, 40, 96}, {40 * 96, 0, 1}, 0), shared, number);
}

TEST(EagerMatmulStrides, WritesOnlyItsColumns) {
  const Tensor a = random_tensor({1, 50, 60}), b = random_tensor({1, 60, 70});
  const Tensor whole = Tensor::full({50, 100}, 7);
  const Tensor c = whole.as_strided({1, 50, 70}, {0, 100, 1}, 10);
  ASSERT_TRUE(onednn::eager_matmul(args_of(a, b, Tensor(), c)));
  EXPECT_LT(relative_error(c, product_oracle(a, b, Tensor())), 1e-6);
  for (int64_t m = 0; m < 50; ++m)
    for (int64_t n = 0; n < 100; ++n)
      if (n < 10 || n >= 80) {
        ASSERT_EQ(whole.at({m, n}), 7);
      }
}

TEST(EagerMatmulRefusals, TinyEmptyAndOtherTypesAreLeftToThePlainLoop) {
  const auto taken = [](const Tensor& a, const Tensor& b) {
    const Tensor c =
        Tensor::empty({a.size(0), a.size(1), b.size(2)}, a.dtype());
    return onednn::eager_matmul(args_of(a, b, Tensor(), c));
  };
  EXPECT_FALSE(taken(random_tensor({1, 2, 3}), random_tensor({1, 3, 4})));
  EXPECT_FALSE(taken(random_tensor({1, 64, 0}), random_tensor({1, 0, 64})));
  EXPECT_FALSE(taken(random_tensor({0, 64, 64}), random_tensor({0, 64, 64})));
  EXPECT_FALSE(taken(random_tensor({1, 64, 64}, DType::f64),
                     random_tensor({1, 64, 64}, DType::f64)));
}

TEST(EagerMatmulCache, StaysBelowItsBound) {
  for (int64_t rows = 1; rows <= 400; ++rows) {
    const Tensor a = random_tensor({1, rows, 64}),
                 b = random_tensor({1, 64, 65});
    expect_product(a, b, Tensor());
  }
  EXPECT_LE(onednn::matmuls_kept(), onednn::kMostMatmuls);
  EXPECT_GT(onednn::matmuls_kept(), onednn::kMostMatmuls / 2);
}

TEST(EagerBackend, IsThereWithoutACall) {
  const size_t before = onednn::matmuls_kept();
  const Tensor a = random_tensor({1, 71, 73}), b = random_tensor({1, 73, 79});
  const Tensor c = Tensor::empty({1, 71, 79});
  ops::run_matmul(args_of(a, b, Tensor(), c));
  if (before < onednn::kMostMatmuls) {
    EXPECT_EQ(onednn::matmuls_kept(), before + 1);
  }
  const Tensor plain = Tensor::empty({1, 71, 79});
  ops::plain_matmul(args_of(a, b, Tensor(), plain));
  EXPECT_LT(relative_error(plain, doubles(c)), 1e-6);
}

TEST(OnednnVersion, IsThreeNumbers) {
  int major = 0, minor = 0, patch = 0;
  ASSERT_EQ(std::sscanf(onednn_version().c_str(), "v%d.%d.%d", &major, &minor,
                        &patch),
            3)
      << onednn_version();
  EXPECT_GE(major, 3);
}

}  // namespace TEST_FILE
}  // namespace fxjit::kernels::testing
