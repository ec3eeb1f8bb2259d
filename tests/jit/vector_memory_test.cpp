// Loads, stores, masks and conversions of VectorBuilder at each CPU level. The
// buffers end at a page that may not be touched.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "fxjit/half.h"
#include "jit/emit/vector_builder.h"
#include "src/support/machine/vector_lanes.h"
#include "tests/jit/jit_test_util.h"

namespace fxjit::jit {
namespace TEST_FILE {

using testing::Kernel;
using Args = std::span<Value* const>;

constexpr size_t kPage = 4096;
constexpr int kMostCasts = 8;
constexpr DType kAllDTypes[] = {DType::f32,     DType::f64,    DType::f16,
                                DType::bf16,    DType::i8,     DType::u8,
                                DType::i16,     DType::i32,    DType::i64,
                                DType::boolean, DType::f8e4m3, DType::f8e5m2};

// A readable page followed by a forbidden one.
class GuardedPage {
 public:
  GuardedPage()
      : base_(static_cast<std::byte*>(
            mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_NE(base_, MAP_FAILED);
    EXPECT_EQ(mprotect(base_ + kPage, kPage, PROT_NONE), 0);
  }
  ~GuardedPage() { munmap(base_, 2 * kPage); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  std::byte* last(size_t bytes) { return base_ + kPage - bytes; }

 private:
  std::byte* base_;
};

class VectorMemoryTest : public ::testing::TestWithParam<CpuLevel> {
 protected:
  int lanes() const { return support::vector_lanes(GetParam()); }
};

TEST_P(VectorMemoryTest, MaskedTailsTouchNothingBeyond) {
  GuardedPage in, out;
  for (DType dtype : kAllDTypes) {
    Kernel<const void*, void*, int64_t> kernel(
        GetParam(), [&](VectorBuilder& b, Args args) {
          Value* mask = b.tail_mask(args[2]);
          b.store(dtype, b.load(dtype, args[0], mask), args[1], mask);
        });
    for (int count = 0; count <= lanes(); ++count) {
      const size_t bytes = count * dtype_size(dtype);
      std::byte* from = in.last(bytes);
      std::byte* to = out.last(bytes);
      for (size_t i = 0; i < bytes; ++i) from[i] = std::byte(i % 2);
      std::memset(to - 64, 0x5a, bytes + 64);
      kernel(from, to, count);
      EXPECT_EQ(std::memcmp(from, to, bytes), 0)
          << dtype_name(dtype) << " " << count;
      EXPECT_EQ(to[-1], std::byte{0x5a}) << dtype_name(dtype);
    }
  }
}

TEST_P(VectorMemoryTest, MasksBeyondTheVectorAreFull) {
  Kernel<const float*, float*, int64_t> kernel(
      GetParam(), [&](VectorBuilder& b, Args args) {
        Value* mask = b.tail_mask(args[2]);
        b.store(DType::f32, b.load(DType::f32, args[0], mask), args[1]);
      });
  const std::vector<float> in(lanes(), 3.0f);
  std::vector<float> out(lanes());
  kernel(in.data(), out.data(), int64_t{1} << 40);
  EXPECT_EQ(out, in);
  kernel(in.data(), out.data(), 1);
  EXPECT_EQ(out[0], 3.0f);
  EXPECT_EQ(out[1], 0.0f);
}

TEST_P(VectorMemoryTest, StridesGathersAndScattersReachTheirElements) {
  const int n = lanes();
  Kernel<const float*, const int32_t*, float*, int64_t> kernel(
      GetParam(), [&](VectorBuilder& b, Args args) {
        Value* strided =
            b.gather(DType::f32, args[0],
                     b.mul(b.splat(b.i64(3)), b.iota(b.i64())), nullptr);
        b.store(DType::f32, strided, args[2]);
        Value* indices = b.load(DType::i32, args[1]);
        Value* mask = b.tail_mask(args[3]);
        Value* gathered = b.gather(DType::f32, args[0], indices, mask);
        b.store(DType::f32, gathered, b.offset(args[2], b.f32(), n));
        Value* lane = b.iota(b.i32(), n);
        b.scatter(DType::f32, strided, b.offset(args[2], b.f32(), 2 * n),
                  b.add(lane, lane), mask);
      });
  std::vector<float> in(3 * n), out(4 * n, -1.0f);
  std::vector<int32_t> indices(n);
  for (int i = 0; i < 3 * n; ++i) in[i] = float(i);
  // The last lane is off, so that its index must not be followed.
  for (int i = 0; i < n; ++i) indices[i] = i + 1 < n ? 2 * i : 1 << 30;
  kernel(in.data(), indices.data(), out.data(), n - 1);
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(out[i], float(3 * i));
    EXPECT_EQ(out[n + i], i + 1 < n ? float(2 * i) : 0.0f);
    EXPECT_EQ(out[2 * n + 2 * i], i + 1 < n ? float(3 * i) : -1.0f);
    EXPECT_EQ(out[2 * n + 2 * i + 1], -1.0f);
  }
}

// Runs f32 -> `dtype` memory -> f32 over vectors.
template <typename Storage>
void check_half(CpuLevel level, DType dtype) {
  using Bits = decltype(Storage::bits);
  Kernel<const float*, Bits*, float*> kernel(
      level, [&](VectorBuilder& b, Args args) {
        b.store(dtype, b.load(DType::f32, args[0]), args[1]);
        b.store(DType::f32, b.load(dtype, args[1]), args[2]);
      });
  const int n = support::vector_lanes(level);
  std::vector<float> in(n), out(n);
  std::vector<Bits> bits(n);
  for (uint64_t first = 0; first >> 32 == 0; first += 9973u * n) {
    for (int i = 0; i < n; ++i) {
      in[i] = std::bit_cast<float>(uint32_t(first + 9973u * i));
    }
    kernel(in.data(), bits.data(), out.data());
    for (int i = 0; i < n; ++i) {
      const Storage want(in[i]);
      if (std::isnan(in[i])) {
        ASSERT_TRUE(std::isnan(out[i])) << in[i];
      } else {
        ASSERT_EQ(bits[i], want.bits) << in[i];
        ASSERT_EQ(out[i], float(want)) << in[i];
      }
    }
  }
}

TEST_P(VectorMemoryTest, HalfPrecisionRoundsToEven) {
  check_half<Half>(GetParam(), DType::f16);
  check_half<BFloat16>(GetParam(), DType::bf16);
  check_half<Float8E4M3>(GetParam(), DType::f8e4m3);
  check_half<Float8E5M2>(GetParam(), DType::f8e5m2);
}

// Each code is read as the number that it stands for.
template <typename Storage>
void check_codes(CpuLevel level, DType dtype) {
  Kernel<const uint8_t*, float*> kernel(
      level, [&](VectorBuilder& b, Args args) {
        b.store(DType::f32, b.load(dtype, args[0], 4), args[1]);
      });
  for (int first = 0; first < 256; first += 4) {
    uint8_t codes[4];
    float out[4];
    for (int i = 0; i < 4; ++i) codes[i] = static_cast<uint8_t>(first + i);
    kernel(codes, out);
    for (int i = 0; i < 4; ++i) {
      Storage stored;
      stored.bits = codes[i];
      const auto want = static_cast<float>(stored);
      EXPECT_EQ(std::isnan(out[i]), std::isnan(want)) << first + i;
      EXPECT_EQ(std::signbit(out[i]), std::signbit(want)) << first + i;
      if (!std::isnan(want)) EXPECT_EQ(out[i], want) << first + i;
    }
  }
}

TEST_P(VectorMemoryTest, EveryCodeOfEightBitsIsRead) {
  check_codes<Float8E4M3>(GetParam(), DType::f8e4m3);
  check_codes<Float8E5M2>(GetParam(), DType::f8e5m2);
}

// Values that every type below can hold or that wrap in a defined way.
template <typename From, typename To>
void check_cast(CpuLevel level, DType from, DType to,
                std::vector<double> values) {
  const int n = int(values.size());
  Kernel<const From*, To*> kernel(level, [&](VectorBuilder& b, Args args) {
    Value* x = b.load(from, args[0], n);
    b.store(to, b.convert(x, from, to), args[1]);
  });
  From in[kMostCasts];
  To out[kMostCasts];
  std::copy(values.begin(), values.end(), in);
  kernel(in, out);
  for (int i = 0; i < n; ++i) {
    // Through int64, so that narrowing wraps instead of being undefined.
    const To want = std::is_integral_v<To> && to != DType::boolean
                        ? static_cast<To>(static_cast<int64_t>(in[i]))
                        : static_cast<To>(in[i]);
    const bool truth = in[i] != From(0);
    EXPECT_EQ(out[i], to == DType::boolean ? To(truth) : want)
        << dtype_name(from) << " " << values[i] << " to " << dtype_name(to);
  }
}

TEST_P(VectorMemoryTest, CastsAsStaticCast) {
  const CpuLevel level = GetParam();
  const std::vector<double> mixed = {0, 1.75, -1.75, 100, -100, 300, 2, -128};
  const std::vector<double> small = {0, 1, 127, 5, 9, 13, 100, 3};
  check_cast<float, int8_t>(level, DType::f32, DType::i8, mixed);
  check_cast<float, uint8_t>(level, DType::f32, DType::u8, mixed);
  check_cast<float, int16_t>(level, DType::f32, DType::i16, mixed);
  check_cast<float, int32_t>(level, DType::f32, DType::i32, mixed);
  check_cast<float, int64_t>(level, DType::f32, DType::i64, mixed);
  check_cast<float, double>(level, DType::f32, DType::f64, mixed);
  check_cast<double, float>(level, DType::f64, DType::f32, mixed);
  check_cast<double, int64_t>(level, DType::f64, DType::i64, mixed);
  check_cast<float, bool>(level, DType::f32, DType::boolean, mixed);
  check_cast<int64_t, uint8_t>(level, DType::i64, DType::u8, mixed);
  check_cast<int64_t, double>(level, DType::i64, DType::f64, mixed);
  check_cast<int32_t, float>(level, DType::i32, DType::f32, mixed);
  check_cast<int16_t, int64_t>(level, DType::i16, DType::i64, mixed);
  check_cast<int8_t, float>(level, DType::i8, DType::f32, small);
  check_cast<uint8_t, int32_t>(level, DType::u8, DType::i32,
                               {0, 1, 127, 128, 200, 255, 7, 8});
  check_cast<uint8_t, float>(level, DType::u8, DType::f32,
                             {0, 1, 127, 128, 200, 255, 7, 8});
  check_cast<bool, float>(level, DType::boolean, DType::f32, {0, 1, 1, 0});
  check_cast<bool, int64_t>(level, DType::boolean, DType::i64, {0, 1, 1, 0});
}

TEST_P(VectorMemoryTest, NanIsTrue) {
  Kernel<const float*, bool*> kernel(GetParam(), [&](VectorBuilder& b,
                                                     Args args) {
    Value* x = b.load(DType::f32, args[0], 4);
    b.store(DType::boolean, b.convert(x, DType::f32, DType::boolean), args[1]);
  });
  const float in[4] = {std::numeric_limits<float>::quiet_NaN(), -0.0f, 1e-45f,
                       0.0f};
  bool out[4];
  kernel(in, out);
  EXPECT_TRUE(out[0]);
  EXPECT_FALSE(out[1]);
  EXPECT_TRUE(out[2]);
  EXPECT_FALSE(out[3]);
}

TEST_P(VectorMemoryTest, ConvertingToHalfRoundsTheRegister) {
  Kernel<const float*, float*> kernel(
      GetParam(), [&](VectorBuilder& b, Args args) {
        Value* x = b.load(DType::f32, args[0], 4);
        b.store(DType::f32, b.convert(x, DType::f32, DType::bf16), args[1]);
      });
  const float in[4] = {1.00390625f, 1.01171875f, 3.4e38f, -2.5f};
  float out[4];
  kernel(in, out);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(out[i], float(BFloat16(in[i])));
}

INSTANTIATE_TEST_SUITE_P(Levels, VectorMemoryTest,
                         ::testing::ValuesIn(testing::host_levels()),
                         testing::level_name);

}  // namespace TEST_FILE
}  // namespace fxjit::jit
