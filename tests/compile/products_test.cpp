// Products and convolutions beside those of f32 by a constant matrix: of
// doubles and half types, by constants with batches, and depthwise ones over
// lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::random_tensor;

double tolerance(DType dtype) {
  if (dtype == DType::f64) return 1e-12;
  if (dtype == DType::f32) return 2e-5;
  return dtype == DType::f16 ? 4e-3 : 3e-2;
}

// fn(x) is the same compiled as interpreted, in native code.
template <typename Fn>
void expect_native(Fn fn, const Tensor& x) {
  const auto gm = fx::symbolic_trace(fn, {"x"}, "f");
  const double near = tolerance(x.dtype());
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      compile(*gm, testing::options_for(level, threads));
      EXPECT_EQ(
          testing::value_difference(
              gm->forward({x}), gm->interpret(ValueList{x}), near, near * 4),
          "");
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
      EXPECT_THAT(report(*gm), Not(HasSubstr("interpreter")));
    }
}

constexpr DType kFloats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};

TEST(Products, ByConstantsOfEveryType) {
  for (DType dtype : kFloats)
    for (int64_t rows : {1, 3, 70})
      for (int64_t columns : {1, 10, 33}) {
        const Value weight = random_tensor({columns, 40}, dtype, 2);
        const Value bias = random_tensor({columns}, dtype, 3);
        expect_native(
            [=](Value x) { return F::gelu(F::linear(x, weight, bias)); },
            random_tensor({rows, 40}, dtype));
        expect_native(
            [=](Value x) { return matmul(x, transpose(weight, 0, 1)); },
            random_tensor({2, rows, 40}, dtype));
      }
}

TEST(Products, OfActivations) {
  for (DType dtype : kFloats) {
    expect_native([](Value x) { return matmul(x, transpose(x, -1, -2)); },
                  random_tensor({2, 3, 9, 20}, dtype));
    expect_native(
        [](Value x) {
          return bmm(transpose(x, 1, 2),
                     getitem(x, Ellipsis, Value::slice(1, None, 2)));
        },
        random_tensor({3, 17, 12}, dtype));
  }
}

// A matrix by a batch, batches that are spread along each other, vectors.
TEST(Products, OfDifferentBatches) {
  for (DType dtype : kFloats) {
    const Value weight = random_tensor({4, 9}, dtype, 2);
    expect_native([=](Value x) { return matmul(weight, x); },
                  random_tensor({2, 3, 9, 7}, dtype));
    expect_native(
        [](Value x) { return matmul(unsqueeze(x, 1), transpose(x, -1, -2)); },
        random_tensor({3, 5, 6}, dtype));
    const Value line = random_tensor({6}, dtype, 3);
    expect_native([=](Value x) { return matmul(x, line); },
                  random_tensor({3, 5, 6}, dtype));
    expect_native([=](Value x) { return matmul(line, x); },
                  random_tensor({3, 6, 5}, dtype));
    expect_native([=](Value x) { return matmul(x, line); },
                  random_tensor({6}, dtype));
  }
}

// Rows that step unevenly, and a matrix that is read backwards.
TEST(Products, OfStridedRows) {
  for (DType dtype : kFloats) {
    const Value weight = random_tensor({12, 24}, dtype, 2);
    const Tensor wide = random_tensor({6, 4, 48}, dtype);
    expect_native([=](Value x) { return F::linear(x, weight); },
                  wide.as_strided({4, 6, 24}, {48, 192, 2}, 1));
    expect_native(
        [=](Value x) {
          return F::linear(getitem(x, Value::slice(None, None), 0), weight);
        },
        random_tensor({5, 3, 24}, dtype));
  }
}

TEST(Products, ByConstantsWithBatches) {
  for (DType dtype : {DType::f32, DType::bf16}) {
    const Value weights = random_tensor({4, 8, 20}, dtype, 2);
    for (const char* equation : {"td,edh->teh", "td,edh->eth", "td,edh->ht"})
      expect_native([=](Value x) { return einsum(equation, {x, weights}) + 1; },
                    random_tensor({5, 8}, dtype));
    expect_native([=](Value x) { return matmul(unsqueeze(x, 1), weights); },
                  random_tensor({3, 6, 8}, dtype));
  }
}

// They are packed with the program, not by every call.
TEST(Products, ConstantsWithBatchesArePackedOnce) {
  const Value weights = random_tensor({4, 8, 20}, DType::f32, 2);
  const auto gm = fx::symbolic_trace(
      [=](Value x) { return einsum("td,edh->teh", {x, weights}); }, {"x"}, "f");
  compile(*gm, testing::quick());
  gm->forward({random_tensor({5, 8})});
  EXPECT_THAT(report(*gm), Not(HasSubstr("pack")));
  EXPECT_THAT(report(*gm), Not(HasSubstr("materialize")));
}

TEST(Convolutions, OfHalfTypes) {
  for (DType dtype : {DType::f16, DType::bf16}) {
    const Value weight = random_tensor({5, 3, 3, 3}, dtype, 2);
    const Value bias = random_tensor({5}, dtype, 3);
    expect_native([=](Value x) { return relu(F::conv2d(x, weight, bias)); },
                  random_tensor({2, 3, 7, 6}, dtype));
  }
}

TEST(Convolutions, DepthwiseOverLines) {
  for (int64_t size : {1, 4, 31}) {
    const Value weight = random_tensor({6, 1, size}, DType::f32, 2);
    const Value bias = random_tensor({6}, DType::f32, 3);
    for (int64_t stride : {1, 2})
      for (int64_t padding : {int64_t{0}, size / 2})
        expect_native(
            [=](Value x) {
              return F::silu(F::conv1d(x, weight, bias, stride, padding, 1, 6));
            },
            random_tensor({2, 6, 50}));
    expect_native(
        [=](Value x) { return F::conv1d(x, weight, None, 1, "same", 3, 6); },
        random_tensor({6, 120}));  // Without a batch.
  }
}

TEST(Convolutions, DepthwiseOverStridedLines) {
  const Value weight = random_tensor({6, 1, 5}, DType::f32, 2);
  expect_native(
      [=](Value x) {
        return F::conv1d(transpose(x, 1, 2), weight, None, 1, 0, 1, 6) * 2;
      },
      random_tensor({2, 40, 6}));
}

TEST(Convolutions, OfNothing) {
  const Value weight = random_tensor({4, 3, 3, 3}, DType::f32, 2);
  expect_native([=](Value x) { return F::conv2d(x, weight); },
                Tensor::empty({0, 3, 8, 8}));
}

}  // namespace TEST_FILE
}  // namespace fxjit
