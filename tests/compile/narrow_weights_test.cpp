// Large weights that few rows are multiplied with: kept in fewer bytes, with
// the same results or ones as exact.
#include <gtest/gtest.h>

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "fxjit/nn.h"
#include "src/support/machine/cache_sizes.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

namespace F = nn::functional;
using testing::host_levels;
using testing::options_for;
using testing::random_tensor;

constexpr int64_t kWidth = 768;
constexpr size_t kFloats = size_t{kWidth * kWidth * 4};

Tensor rounded_to(DType dtype) {
  return random_tensor({kWidth, kWidth}, DType::f32, 3)
      .to(dtype)
      .to(DType::f32);
}

// gelu(x W^T)
nn::Ref<fx::GraphModule> product(const Tensor& weight) {
  return fx::symbolic_trace(
      [weight = Value(weight)](Value x) {
        return F::gelu(F::linear(x, weight));
      },
      {"x"}, "product");
}

ValueList rows(int64_t count) { return {random_tensor({count, kWidth})}; }

void expect_right(fx::GraphModule& gm, const ValueList& inputs) {
  EXPECT_EQ(testing::value_difference(gm.forward(inputs), gm.interpret(inputs),
                                      1e-5, 2e-3),
            "");
}

size_t packed_bytes(fx::GraphModule& gm, int64_t count) {
  prepare(gm, rows(count));
  return profile(gm, rows(count), 1).packed_bytes;
}

TEST(NarrowWeights, GiveTheSameResults) {
  const Tensor weights[] = {rounded_to(DType::bf16), rounded_to(DType::f16),
                            rounded_to(DType::f32)};
  for (CpuLevel level : host_levels())
    for (int threads : {1, 2})
      for (const Tensor& weight : weights) {
        const auto gm = product(weight);
        compile(*gm, options_for(level, threads));
        for (int64_t count : {1, 2, 6, 7}) expect_right(*gm, rows(count));
      }
}

// The order of sums is that of f32 weights, too.
TEST(NarrowWeights, OfHalfTypesAreBitwiseTheSame) {
  for (CpuLevel level : host_levels()) {
    const auto narrow = product(rounded_to(DType::bf16));
    const auto wide = product(rounded_to(DType::bf16));
    CompileOptions options = options_for(level);
    compile(*narrow, options);
    options.narrow_weights = CompileOptions::NarrowWeights::never;
    compile(*wide, options);
    for (int64_t count : {1, 4})
      EXPECT_EQ(testing::value_difference(narrow->forward(rows(count)),
                                          wide->forward(rows(count)), 0, 0),
                "");
  }
}

// Packed exactly, in the same panels for every shape.
size_t exact_bytes(DType dtype) {
  const auto gm = product(rounded_to(dtype));
  CompileOptions options = testing::quick();
  options.narrow_weights = CompileOptions::NarrowWeights::exact;
  compile(*gm, options);
  const size_t bytes = packed_bytes(*gm, 1);
  EXPECT_EQ(packed_bytes(*gm, 3), bytes) << "shared by shapes";
  return bytes;
}

TEST(NarrowWeights, OfBf16TakeLessMemory) {
  EXPECT_LT(exact_bytes(DType::bf16), kFloats * 6 / 10);
}

TEST(NarrowWeights, OfF16TakeLessMemory) {
  const size_t bytes = exact_bytes(DType::f16);
  if (host_cpu_level() == CpuLevel::sse41)
    GTEST_SKIP() << "this level has no instructions that widen f16";
  EXPECT_LT(bytes, kFloats * 6 / 10);
}

TEST(NarrowWeights, OfExactF32TakeLessMemory) {
  const size_t bytes = exact_bytes(DType::f32);
  if (host_cpu_level() != CpuLevel::avx512)
    GTEST_SKIP() << "exact f32 weights are only narrowed for AVX-512";
  EXPECT_LT(bytes, kFloats * 9 / 10);
}

TEST(NarrowWeights, OfF32AreRoundedTo24Bits) {
  if (host_cpu_level() == CpuLevel::sse41)
    GTEST_SKIP() << "unpacking is slower than memory at this level";
  const auto gm = product(rounded_to(DType::f32));
  compile(*gm, testing::quick());
  EXPECT_LT(packed_bytes(*gm, 1), kFloats * 77 / 100);
  for (int64_t count : {1, 3, 6}) expect_right(*gm, rows(count));
}

TEST(NarrowWeights, OfOneTensorMayBeExactElsewhere) {
  const Tensor weight = rounded_to(DType::f32);
  const auto plain = product(weight);
  const auto exact = product(weight);
  const auto rounded = product(weight);
  CompileOptions options = testing::quick();
  compile(*rounded, options);
  options.narrow_weights = CompileOptions::NarrowWeights::exact;
  compile(*exact, options);
  options.narrow_weights = CompileOptions::NarrowWeights::never;
  compile(*plain, options);
  for (fx::GraphModule* gm : {&*rounded, &*exact, &*plain})
    expect_right(*gm, rows(1));
}

// Layers of 256 KiB each, of `bytes` together.
nn::Ref<fx::GraphModule> deep(size_t bytes) {
  constexpr int64_t kDim = 256;
  const size_t layers = bytes / (kDim * kDim * 4);
  std::vector<Value> weights;
  for (size_t i = 0; i < layers; ++i)
    weights.push_back(Value(random_tensor({kDim, kDim}, DType::f32, 5 + i)) /
                      16);
  return fx::symbolic_trace(
      [weights](Value x) {
        for (const Value& weight : weights)
          x = F::relu(F::linear(x, weight)) - 0.1;
        return x;
      },
      {"x"}, "deep");
}

TEST(NarrowWeights, AreThoseThatTogetherComeFromBehindTheCache) {
  if (host_cpu_level() == CpuLevel::sse41)
    GTEST_SKIP() << "unpacking is slower than memory at this level";
  const size_t cache = support::cache_sizes()[1];
  const ValueList row{random_tensor({1, 256})};
  for (const size_t bytes : {cache / 2, cache * 2}) {
    const auto gm = deep(bytes);
    compile(*gm, testing::quick());
    prepare(*gm, row);
    const size_t packed = profile(*gm, row, 1).packed_bytes;
    if (bytes < cache)
      EXPECT_GE(packed, bytes);
    else
      EXPECT_LT(packed, bytes * 8 / 10);
    EXPECT_EQ(testing::value_difference(gm->forward(row), gm->interpret(row),
                                        1e-5, 1e-4),
              "");
  }
}

TEST(NarrowWeights, AreNoSecondCopyThatIsLittleSmaller) {
  const auto gm = product(rounded_to(DType::f32));
  compile(*gm, testing::quick());
  const size_t bytes = packed_bytes(*gm, 16);
  EXPECT_GE(bytes, kFloats);
  EXPECT_EQ(packed_bytes(*gm, 1), bytes);
  expect_right(*gm, rows(1));
}

TEST(NarrowWeights, CanBeLeftOut) {
  for (const bool strict : {false, true}) {
    const auto gm = product(rounded_to(DType::bf16));
    CompileOptions options = testing::quick();
    options.strict_sums = strict;
    options.narrow_weights = strict ? CompileOptions::NarrowWeights::rounded
                                    : CompileOptions::NarrowWeights::never;
    compile(*gm, options);
    EXPECT_GE(packed_bytes(*gm, 1), kFloats);
    expect_right(*gm, rows(1));
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
