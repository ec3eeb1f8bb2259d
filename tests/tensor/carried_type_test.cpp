#include "fxjit/carried_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "fxjit/error.h"

namespace fxjit {
namespace TEST_FILE {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr CarriedType kReal[] = {CarriedType::f8e4m3fnuz,
                                 CarriedType::f8e5m2fnuz};

Tensor all_codes() {
  const Tensor codes = Tensor::empty({16, 16}, DType::u8);
  for (int i = 0; i < 256; ++i)
    codes.data_as<uint8_t>()[i] = static_cast<uint8_t>(i);
  return codes;
}

TEST(CarriedType, Names) {
  for (const char* name :
       {"uint16", "uint32", "uint64", "float8_e4m3fnuz", "float8_e5m2fnuz",
        "uint2", "int2", "uint4", "int4", "float4_e2m1fn"})
    EXPECT_EQ(carried_name(carried_type_from_name(name).value()), name);
  for (const char* name : {"uint8", "float8_e4m3fn", "float8_e5m2"})
    EXPECT_FALSE(carried_type_from_name(name)) << name;
  EXPECT_FALSE(carried_type_from_name(""));
}

TEST(CarriedType, IntegersWithoutASign) {
  const Tensor bits16 =
      Tensor::from(std::vector<int64_t>{0, 1, -1, -32768}, {4}).to(DType::i16);
  const Tensor carried16 = carried(bits16, CarriedType::u16);
  EXPECT_EQ(carried16.dtype(), DType::i32);
  EXPECT_EQ(carried16.to_ints(), (std::vector<int64_t>{0, 1, 65535, 32768}));
  const Tensor bits32 =
      Tensor::from(std::vector<int64_t>{5, -1, -2147483648}, {3})
          .to(DType::i32);
  const Tensor carried32 = carried(bits32, CarriedType::u32);
  EXPECT_EQ(carried32.dtype(), DType::i64);
  EXPECT_EQ(carried32.to_ints(),
            (std::vector<int64_t>{5, 4294967295, 2147483648}));
  EXPECT_EQ(bits_of(carried32, CarriedType::u32).to_ints(), bits32.to_ints());
  const Tensor over = Tensor::from(std::vector<int64_t>{65536 + 7, -1}, {2});
  EXPECT_EQ(bits_of(over.to(DType::i32), CarriedType::u16).to_ints(),
            (std::vector<int64_t>{7, -1}));
  EXPECT_EQ(carried(over, CarriedType::u64).data(), over.data());
  EXPECT_THROW(carried(over, CarriedType::u16), TypeError);
}

TEST(CarriedType, ElementsWithSteps) {
  const Tensor wide =
      Tensor::from(std::vector<int64_t>{1, -1, 3, -1, 5, -1}, {6})
          .to(DType::i16);
  const Tensor some = wide.as_strided({3}, {2}, 0);
  EXPECT_EQ(carried(some, CarriedType::u16).to_ints(),
            (std::vector<int64_t>{1, 3, 5}));
}

Tensor bytes(const std::vector<int64_t>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())})
      .to(DType::u8);
}

TEST(CarriedType, SmallIntegersHaveTheirSign) {
  const Tensor codes = bytes({0, 1, 7, 8, 15, 0xf9, 3, 2});
  const auto numbers = [&](CarriedType type, DType carrier) {
    const Tensor made = carried(codes, type);
    EXPECT_EQ(made.dtype(), carrier);
    return made.to_ints();
  };
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(numbers(CarriedType::u4, DType::u8),
            (Ints{0, 1, 7, 8, 15, 9, 3, 2}));
  EXPECT_EQ(numbers(CarriedType::i4, DType::i8),
            (Ints{0, 1, 7, -8, -1, -7, 3, 2}));
  EXPECT_EQ(numbers(CarriedType::u2, DType::u8),
            (Ints{0, 1, 3, 0, 3, 1, 3, 2}));
  EXPECT_EQ(numbers(CarriedType::i2, DType::i8),
            (Ints{0, 1, -1, 0, -1, 1, -1, -2}));
  EXPECT_EQ(bits_of(carried(codes, CarriedType::i4), CarriedType::i4).to_ints(),
            (Ints{0, 1, 7, 8, 15, 9, 3, 2}));
}

TEST(CarriedType, RealNumbersOf4Bits) {
  const Tensor codes = bytes({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15});
  const Tensor numbers = carried(codes, CarriedType::f4e2m1);
  EXPECT_EQ(numbers.to_floats(), (std::vector<float>{0, 0.5f, 1, 1.5f, 2, 3, 4,
                                                     6, -0.0f, -0.5f, -6}));
  EXPECT_EQ(bits_of(numbers, CarriedType::f4e2m1).to_ints(), codes.to_ints());
  const Tensor others = Tensor::from(
      std::vector<float>{std::numeric_limits<float>::quiet_NaN(), 5}, {2});
  EXPECT_EQ(bits_of(others.to(DType::f16), CarriedType::f4e2m1).to_ints(),
            (std::vector<int64_t>{8, 8}));
}

TEST(CarriedType, TheFirstOfAByteIsInItsLowestBits) {
  const Tensor packed = bytes({0xe4, 0x1b, 0x02});
  EXPECT_EQ(unpacked(packed, CarriedType::i4, {5}).to_ints(),
            (std::vector<int64_t>{4, 14, 11, 1, 2}));
  EXPECT_EQ(unpacked(packed, CarriedType::u2, {3, 3}).to_ints(),
            (std::vector<int64_t>{0, 1, 2, 3, 3, 2, 1, 0, 2}));
}

// Numbers of the codes 0, 1, 7, 8, 0x38, 0x7b to 0x81 and 0xff, as the package
// ml_dtypes has them.
TEST(CarriedType, RealNumbersOf8Bits) {
  const std::vector<int> codes = {0,    1,    7,    8,    0x38, 0x7b, 0x7c,
                                  0x7d, 0x7e, 0x7f, 0x80, 0x81, 0xff};
  const std::vector<double> expected[] = {
      {0, 0x1p-10, 0.0068359375, 0.0078125, 0.5, 176, 192, 208, 224, 240, kNan,
       -0x1p-10, -240},
      {0, 0x1p-17, 0x1.cp-15, 0x1p-14, 0.25, 28672, 32768, 40960, 49152, 57344,
       kNan, -0x1p-17, -57344}};
  for (size_t t = 0; t < std::size(kReal); ++t) {
    SCOPED_TRACE(carried_name(kReal[t]));
    const Tensor numbers = carried(all_codes(), kReal[t]).to(DType::f64);
    for (size_t i = 0; i < codes.size(); ++i) {
      const double got = numbers.data_as<double>()[codes[i]];
      if (std::isnan(expected[t][i]))
        EXPECT_TRUE(std::isnan(got)) << codes[i];
      else
        EXPECT_EQ(got, expected[t][i]) << codes[i];
      EXPECT_EQ(std::signbit(got) && !std::isnan(got),
                std::signbit(expected[t][i]))
          << codes[i];
    }
  }
}

TEST(CarriedType, RealNumbersComeBackAsTheirBits) {
  for (const CarriedType type : kReal) {
    SCOPED_TRACE(carried_name(type));
    const Tensor numbers = carried(all_codes(), type);
    EXPECT_EQ(numbers.dtype(), DType::f16);
    const std::vector<int64_t> bits = bits_of(numbers, type).to_ints();
    const Tensor wide = numbers.to(DType::f64);
    for (int i = 0; i < 256; ++i)
      if (!std::isnan(wide.data_as<double>()[i])) EXPECT_EQ(bits[i], i);
    const Tensor again = carried(bits_of(numbers, type), type).to(DType::f64);
    for (int i = 0; i < 256; ++i)
      EXPECT_EQ(std::isnan(again.data_as<double>()[i]),
                std::isnan(wide.data_as<double>()[i]))
          << i;
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
