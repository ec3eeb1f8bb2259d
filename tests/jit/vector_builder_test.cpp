// Arithmetic, lanes and control flow of VectorBuilder at each CPU level.
#include "jit/emit/vector_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "src/support/machine/vector_lanes.h"
#include "tests/jit/jit_test_util.h"

namespace fxjit::jit {
namespace TEST_FILE {

using testing::Kernel;
using Args = std::span<Value* const>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class VectorBuilderTest : public ::testing::TestWithParam<CpuLevel> {
 protected:
  int lanes() const { return support::vector_lanes(GetParam()); }

  // out[k] = op(a[k], b[k]) for one vector of T.
  template <typename T, typename Op>
  std::vector<T> binary(DType dtype, std::vector<T> a, std::vector<T> c,
                        Op op) {
    const int count = int(a.size());
    Kernel<const T*, const T*, T*> kernel(
        GetParam(), [&](VectorBuilder& b, Args args) {
          b.store(dtype,
                  op(b, b.load(dtype, args[0], count),
                     b.load(dtype, args[1], count)),
                  args[2]);
        });
    std::vector<T> out(a.size());
    kernel(a.data(), c.data(), out.data());
    return out;
  }
};

TEST_P(VectorBuilderTest, MaxAndMinKeepNan) {
  const std::vector<float> a = {1, kNan, 2, kNan, -kInf, 3, -0.5f, 7};
  const std::vector<float> c = {2, 1, kNan, kNan, 5, -3, -0.25f, kInf};
  const auto highest =
      binary(DType::f32, a, c,
             [](VectorBuilder& b, Value* x, Value* y) { return b.max(x, y); });
  const auto lowest =
      binary(DType::f32, a, c,
             [](VectorBuilder& b, Value* x, Value* y) { return b.min(x, y); });
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) || std::isnan(c[i])) {
      EXPECT_TRUE(std::isnan(highest[i]) && std::isnan(lowest[i])) << i;
    } else {
      EXPECT_EQ(highest[i], std::fmax(a[i], c[i])) << i;
      EXPECT_EQ(lowest[i], std::fmin(a[i], c[i])) << i;
    }
  }
}

TEST_P(VectorBuilderTest, MaxWithConstantKeepsNanOnBothSides) {
  const std::vector<float> a = {1, kNan, -2, kInf};
  const auto left =
      binary(DType::f32, a, a, [](VectorBuilder& b, Value* x, Value*) {
        return b.max(b.like(x, 0), x);
      });
  const auto right =
      binary(DType::f32, a, a, [](VectorBuilder& b, Value* x, Value*) {
        return b.max(x, b.like(x, 0));
      });
  for (const auto& out : {left, right}) {
    EXPECT_EQ(out[0], 1);
    EXPECT_TRUE(std::isnan(out[1]));
    EXPECT_EQ(out[2], 0);
    EXPECT_EQ(out[3], kInf);
  }
}

TEST_P(VectorBuilderTest, IntegerDivisionNeverTraps) {
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  const std::vector<int32_t> a = {7, -7, kMin, 5};
  const std::vector<int32_t> c = {2, 2, -1, 0};
  EXPECT_THAT(
      binary(DType::i32, a, c,
             [](VectorBuilder& b, Value* x, Value* y) { return b.div(x, y); }),
      ::testing::ElementsAre(3, -3, kMin, 5));
  EXPECT_THAT(
      binary(DType::i32, a, c,
             [](VectorBuilder& b, Value* x, Value* y) { return b.rem(x, y); }),
      ::testing::ElementsAre(1, -1, 0, 0));
  const std::vector<uint8_t> u = {200, 255, 9, 8};
  const std::vector<uint8_t> v = {3, 255, 0, 16};
  EXPECT_THAT(binary(DType::u8, u, v,
                     [](VectorBuilder& b, Value* x, Value* y) {
                       return b.div(x, y, /*is_unsigned=*/true);
                     }),
              ::testing::ElementsAre(66, 1, 9, 0));
}

TEST_P(VectorBuilderTest, ShiftsSaturateTheirAmount) {
  const std::vector<int32_t> a = {-8, -8, 1, 1};
  const std::vector<int32_t> amount = {1, 40, 31, 32};
  EXPECT_THAT(binary(DType::i32, a, amount,
                     [](VectorBuilder& b, Value* x, Value* y) {
                       return b.shift_right(x, y);
                     }),
              ::testing::ElementsAre(-4, -1, 0, 0));
  EXPECT_THAT(
      binary(DType::i32, a, amount,
             [](VectorBuilder& b, Value* x, Value* y) {
               return b.shift_left(x, y);
             }),
      ::testing::ElementsAre(-16, 0, std::numeric_limits<int32_t>::min(), 0));
}

TEST_P(VectorBuilderTest, FmaRoundsOnceWhereTheLevelHasIt) {
  const float a = 1 + 0x1p-12f;
  const auto out = binary(
      DType::f32, std::vector<float>(4, a), std::vector<float>(4, -1.0f),
      [](VectorBuilder& b, Value* x, Value* y) { return b.fma(x, x, y); });
  const bool fused = GetParam() != CpuLevel::sse41;
  EXPECT_EQ(out[0], fused ? std::fma(a, a, -1.0f) : 0x1p-11f);
}

TEST_P(VectorBuilderTest, ReducesAsATree) {
  const int n = lanes();
  const struct {
    Value* (*combine)(VectorBuilder& b, Value* x, Value* y);
    float want;
    bool any_nan_shows;
  } cases[] = {
      {[](VectorBuilder& b, Value* x, Value* y) { return b.add(x, y); },
       float(n * (n + 1) / 2), false},
      {[](VectorBuilder& b, Value* x, Value* y) { return b.max(x, y); },
       float(n), true},
      {[](VectorBuilder& b, Value* x, Value* y) { return b.min(x, y); }, 1.0f,
       true},
      {[](VectorBuilder& b, Value* x, Value* y) { return b.mul(x, y); },
       std::tgamma(float(n) + 1), false}};
  for (const auto& c : cases) {
    Kernel<const float*, float*> kernel(GetParam(), [&](VectorBuilder& b,
                                                        Args args) {
      Value* x = b.load(DType::f32, args[0]);
      b.store(DType::f32,
              b.reduce(x, [&](Value* low,
                              Value* high) { return c.combine(b, low, high); }),
              args[1]);
    });
    std::vector<float> in(n);
    std::iota(in.begin(), in.end(), 1.0f);
    float out = 0;
    kernel(in.data(), &out);
    EXPECT_NEAR(out, c.want, c.want * 1e-6f);
    for (int at = 0; at < n && c.any_nan_shows; ++at) {
      std::vector<float> with_nan = in;
      with_nan[at] = kNan;
      kernel(with_nan.data(), &out);
      EXPECT_TRUE(std::isnan(out)) << at;
    }
  }
}

TEST_P(VectorBuilderTest, TransposesSquares) {
  for (int n : {4, 8, 16}) {
    if (n > lanes()) break;
    Kernel<const float*, float*> kernel(
        GetParam(), [&](VectorBuilder& b, Args args) {
          Values rows;
          for (int i = 0; i < n; ++i) {
            rows.push_back(
                b.load(DType::f32, b.offset(args[0], b.f32(), i * n), n));
          }
          const Values columns = b.transpose(rows);
          for (int i = 0; i < n; ++i) {
            b.store(DType::f32, columns[i], b.offset(args[1], b.f32(), i * n));
          }
        });
    std::vector<float> in(n * n), out(n * n);
    std::iota(in.begin(), in.end(), 0.0f);
    kernel(in.data(), out.data());
    for (int i = 0; i < n * n; ++i) {
      EXPECT_EQ(out[i], in[i % n * n + i / n]) << n << " at " << i;
    }
  }
}

TEST_P(VectorBuilderTest, ResizeConcatAndSliceMoveLanes) {
  Kernel<const float*, float*> kernel(
      GetParam(), [&](VectorBuilder& b, Args args) {
        Value* x = b.load(DType::f32, args[0], 4);
        b.store(DType::f32, b.resize(x, 8), args[1]);
        Value* swapped = b.concat(b.slice(x, 2, 2), b.slice(x, 0, 2));
        b.store(DType::f32, swapped, b.offset(args[1], b.f32(), 8));
      });
  const std::vector<float> in = {1, 2, 3, 4};
  std::vector<float> out(12, -1.0f);
  kernel(in.data(), out.data());
  EXPECT_THAT(out, ::testing::ElementsAre(1, 2, 3, 4, 0, 0, 0, 0, 3, 4, 1, 2));
}

TEST_P(VectorBuilderTest, LoopCarriesValuesAndMayNotRun) {
  Kernel<int64_t, int64_t, int64_t, int64_t*> kernel(
      GetParam(), [&](VectorBuilder& b, Args args) {
        const Values out = b.loop(
            args[0], args[1], args[2], {b.i64(0), b.i64(1)},
            [&](Value* i, const Values& carried) {
              return Values{b.add(carried[0], i), b.add(carried[1], b.i64(1))};
            });
        b.store(DType::i64, out[0], args[3]);
        b.store(DType::i64, out[1], b.offset(args[3], b.i64(), 1));
      });
  int64_t out[2];
  kernel(2, 11, 3, out);
  EXPECT_EQ(out[0], 2 + 5 + 8);
  EXPECT_EQ(out[1], 4);
  kernel(5, 5, 1, out);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 1);
}

TEST_P(VectorBuilderTest, NestedLoopsAndBranchesKeepSsaForm) {
  // Sum of i * j over even i and all j, plus 1000 once n exceeds 4.
  Kernel<int64_t, int64_t*> kernel(
      GetParam(), [&](VectorBuilder& b, Args args) {
        Value* n = args[0];
        Value* one = b.i64(1);
        const auto row = [&](Value* i, Value* start) {
          return b.loop(b.i64(0), n, one, {start},
                        [&](Value* j, const Values& sum) {
                          return Values{b.add(sum[0], b.mul(i, j))};
                        });
        };
        const Values total = b.loop(
            b.i64(0), n, one, {b.i64(0)}, [&](Value* i, const Values& sum) {
              Value* even = b.eq(b.bit_and(i, one), b.i64(0));
              return b.if_else(
                  even, [&] { return row(i, sum[0]); }, [&] { return sum; });
            });
        b.store(DType::i64, total[0], args[1]);
        b.if_then(b.gt(n, b.i64(4)), [&] {
          b.store(DType::i64, b.add(total[0], b.i64(1000)), args[1]);
        });
      });
  int64_t out = 0;
  kernel(4, &out);
  EXPECT_EQ(out, 2 * 6);
  kernel(6, &out);
  EXPECT_EQ(out, (2 + 4) * 15 + 1000);
}

INSTANTIATE_TEST_SUITE_P(Levels, VectorBuilderTest,
                         ::testing::ValuesIn(testing::host_levels()),
                         testing::level_name);

}  // namespace TEST_FILE
}  // namespace fxjit::jit
