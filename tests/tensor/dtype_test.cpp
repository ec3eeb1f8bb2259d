#include "fxjit/dtype.h"

#include <gtest/gtest.h>

#include <string>

namespace fxjit {
namespace {

// torch.promote_types for every pair, rows and columns in the order of DType;
// one digit per result in the same order.
constexpr const char* kNames[] = {"float32", "float64", "float16", "bfloat16",
                                  "int8",    "uint8",   "int16",   "int32",
                                  "int64",   "bool"};
constexpr const char* kPromoted[] = {
    "0100000000", "1111111111", "0120222222", "0103333333", "0123466784",
    "0123656785", "0123666786", "0123777787", "0123888888", "0123456789"};

DType at(int i) { return static_cast<DType>(i); }

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i < kDTypeCount; ++i) {
    EXPECT_EQ(dtype_name(at(i)), kNames[i]);
    EXPECT_EQ(dtype_from_name(kNames[i]), at(i));
    EXPECT_EQ(dtype_from_name(std::string("torch.") + kNames[i]), at(i));
  }
  EXPECT_EQ(dtype_from_name("long"), DType::i64);
  EXPECT_EQ(dtype_from_name("half"), DType::f16);
  EXPECT_EQ(dtype_from_name("complex64"), std::nullopt);
}

TEST(DType, PromotesAsPyTorch) {
  for (int a = 0; a < kDTypeCount; ++a)
    for (int b = 0; b < kDTypeCount; ++b)
      EXPECT_EQ(promote_types(at(a), at(b)), at(kPromoted[a][b] - '0'))
          << kNames[a] << " " << kNames[b];
}

TEST(DType, SizesAndCategories) {
  EXPECT_EQ(dtype_size(DType::bf16), 2u);
  EXPECT_EQ(dtype_size(DType::f64), 8u);
  EXPECT_EQ(dtype_size(DType::boolean), 1u);
  EXPECT_TRUE(is_floating(DType::bf16));
  EXPECT_FALSE(is_floating(DType::i32));
  EXPECT_TRUE(is_integral(DType::u8));
  EXPECT_FALSE(is_integral(DType::boolean));
}

}  // namespace
}  // namespace fxjit
