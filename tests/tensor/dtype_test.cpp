#include "fxjit/dtype.h"

#include <gtest/gtest.h>

#include <iterator>
#include <string>

#include "fxjit/error.h"

namespace fxjit {
namespace TEST_FILE {

// torch.promote_types for every pair it has a type for, rows and columns in the order of DType;
// one letter per result in the same order.
constexpr const char* kNames[] = {"float32", "float64", "float16", "bfloat16",
                                  "int8",    "uint8",   "int16",   "int32",
                                  "int64",   "bool",    "complex64",
                                  "complex128",
                                  "float8_e4m3fn", "float8_e5m2"};
constexpr const char* kPromoted[] = {
    "abaaaaaaaakl",
    "bbbbbbbbbbll",
    "abcacccccckl",
    "abadddddddkl",
    "abcdegghiekl",
    "abcdgfghifkl",
    "abcdggghigkl",
    "abcdhhhhihkl",
    "abcdiiiiiikl",
    "abcdefghijkl",
    "klkkkkkkkkkl",
    "llllllllllll"};

DType at(int i) { return static_cast<DType>(i); }

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i < kDTypeCount; ++i) {
    EXPECT_EQ(dtype_name(at(i)), kNames[i]);
    EXPECT_EQ(dtype_from_name(kNames[i]), at(i));
    EXPECT_EQ(dtype_from_name(std::string("torch.") + kNames[i]), at(i));
  }
  EXPECT_EQ(dtype_from_name("long"), DType::i64);
  EXPECT_EQ(dtype_from_name("half"), DType::f16);
  EXPECT_EQ(dtype_from_name("cfloat"), DType::c64);
  EXPECT_EQ(dtype_from_name("complex32"), std::nullopt);
}

TEST(DType, PromotesAsPyTorch) {
  for (size_t a = 0; a < std::size(kPromoted); ++a)
    for (size_t b = 0; b < std::size(kPromoted); ++b)
      EXPECT_EQ(promote_types(at(static_cast<int>(a)), at(static_cast<int>(b))),
                at(kPromoted[a][b] - 'a'))
          << kNames[a] << " " << kNames[b];
}

TEST(DType, RealNumbersOfEightBitsAreNotPromoted) {
  for (const DType type : {DType::f8e4m3, DType::f8e5m2})
    for (int other = 0; other < kDTypeCount; ++other) {
      if (at(other) == type) {
        EXPECT_EQ(promote_types(type, type), type);
        continue;
      }
      EXPECT_THROW(promote_types(type, at(other)), RuntimeError);
      EXPECT_THROW(promote_types(at(other), type), RuntimeError);
    }
}

TEST(DType, SizesAndCategories) {
  EXPECT_EQ(dtype_size(DType::bf16), 2u);
  EXPECT_EQ(dtype_size(DType::f64), 8u);
  EXPECT_EQ(dtype_size(DType::boolean), 1u);
  EXPECT_TRUE(is_floating(DType::bf16));
  EXPECT_FALSE(is_floating(DType::i32));
  EXPECT_TRUE(is_integral(DType::u8));
  EXPECT_EQ(dtype_size(DType::f8e4m3), 1u);
  EXPECT_TRUE(is_floating(DType::f8e5m2));
  EXPECT_FALSE(is_float8(DType::f16));
  EXPECT_EQ(dtype_size(DType::c64), 8u);
  EXPECT_EQ(dtype_size(DType::c128), 16u);
  EXPECT_TRUE(is_complex(DType::c64));
  EXPECT_FALSE(is_integral(DType::c64));
  EXPECT_FALSE(is_floating(DType::c128));
  EXPECT_EQ(part_type(DType::c128), DType::f64);
  EXPECT_FALSE(is_integral(DType::boolean));
}

}  // namespace TEST_FILE
}  // namespace fxjit
