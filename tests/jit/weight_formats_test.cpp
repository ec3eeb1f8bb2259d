// Products of few rows by weights in every format: the weights that arrive are
// those that were packed, to the last bit.
#include "src/weights/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "fxjit/half.h"
#include "src/weights/packing.h"
#include "src/weights/store.h"
#include "tests/jit/jit_test_util.h"
#include "tests/jit/packed_weight.h"
#include "tests/support/guarded_bytes.h"

namespace fxjit::jit {
namespace TEST_FILE {

using testing::normals;
using Weight = testing::PackedWeight;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Size {
  int64_t depth, columns;
};
constexpr Size kSizes[] = {{64, 64}, {33, 300}, {7, 65}, {1, 640}, {128, 17}};

std::vector<float> rounded(weights::Format format, const Size& size) {
  auto values = normals(static_cast<size_t>(size.depth * size.columns), 1);
  for (float& v : values)
    v = format == weights::Format::f16 ? static_cast<float>(Half(v))
                                       : static_cast<float>(BFloat16(v));
  return values;
}

class WeightFormats : public ::testing::TestWithParam<CpuLevel> {
 protected:
  // Where the level has none of its own for such weights.
  weights::Format or_f32(weights::Format format, CpuLevel least) const {
    return GetParam() >= least ? format : weights::Format::f32;
  }
};

TEST_P(WeightFormats, HalfTypesAreKept) {
  for (const Size& size : kSizes) {
    SCOPED_TRACE(::testing::Message() << size.depth << " x " << size.columns);
    auto values = rounded(weights::Format::bf16, size);
    values[0] = -0.0f;
    values.back() = 0x1p-130f;  // Becomes a zero.
    const Weight brain(values, size.depth, GetParam());
    EXPECT_EQ(brain.format(), weights::Format::bf16);
    brain.expect_kept();
    values = rounded(weights::Format::f16, size);
    values.back() = 0x1.8p-23f;  // A denormal of f16.
    const Weight half(values, size.depth, GetParam());
    EXPECT_EQ(half.format(), or_f32(weights::Format::f16, CpuLevel::avx2));
    half.expect_kept();
    for (int64_t rows = 1; rows <= 6; ++rows) {
      brain.expect_double_sums(rows);
      half.expect_double_sums(rows);
    }
  }
}

TEST_P(WeightFormats, FewExponentsAreKept) {
  for (const Size& size : {Size{64, 640}, Size{33, 300}, Size{257, 65},
                           Size{512, 449}, Size{96, 17}}) {
    if (testing::is_emulated(GetParam()) && size.depth * size.columns > 10'000)
      continue;
    SCOPED_TRACE(::testing::Message() << size.depth << " x " << size.columns);
    auto values = normals(static_cast<size_t>(size.depth * size.columns), 2);
    for (float& v : values)
      if (std::abs(v) < 1e-3f) v = 0.5f;
    values[3] = 1e-30f;
    values[5] = -3e10f;
    values[7] = 0;
    values[9] = -0x1.8p-140f;
    values[values.size() - 1] = 0x1p-126f;
    const Weight weight(values, size.depth, GetParam());
    EXPECT_EQ(weight.format(), or_f32(weights::Format::f28, CpuLevel::avx512));
    weight.expect_kept();
    for (int64_t rows = 1; rows <= 6; ++rows) weight.expect_double_sums(rows);
  }
}

// A weight that is an outlier is no zero: infinite factors keep their sign.
TEST_P(WeightFormats, InfinityAndNanReachTheirResults) {
  constexpr int64_t kDepth = 64, kColumns = 70;
  std::vector<float> values(size_t{kDepth * kColumns}, 0.7f);
  for (size_t i = 1; i < values.size(); i += 3) values[i] = 0.3f;
  values[2 * kColumns + 1] = 1e-20f;
  values[2 * kColumns + 2] = -1e20f;
  values[4 * kColumns + 3] = kInfinity;
  values[4 * kColumns + 4] = kNan;
  const Weight weight(values, kDepth, GetParam());
  EXPECT_EQ(weight.format(), or_f32(weights::Format::f28, CpuLevel::avx512));
  std::vector<float> lhs(size_t{3 * kDepth}, 1.0f);
  lhs[kDepth + 2] = kInfinity;
  lhs[2 * kDepth + 4] = 0;
  const std::vector<float> out = weight.product(lhs);
  const auto at = [&](int64_t row, int64_t column) {
    return out[static_cast<size_t>(row * kColumns + column)];
  };
  EXPECT_EQ(at(0, 3), kInfinity);
  EXPECT_TRUE(std::isnan(at(0, 4)));
  EXPECT_EQ(at(1, 1), kInfinity);
  EXPECT_EQ(at(1, 2), -kInfinity);
  EXPECT_EQ(at(1, 5), kInfinity);
  EXPECT_TRUE(std::isnan(at(2, 3)));
  EXPECT_TRUE(std::isfinite(at(2, 5)));
}

TEST_P(WeightFormats, ManyExponentsStayFloats) {
  std::mt19937 random(3);
  std::vector<float> values(size_t{64 * 64});
  for (float& v : values)
    v = std::ldexp(1.37f, static_cast<int>(random() % 60) - 30);
  const Weight weight(values, 64, GetParam());
  EXPECT_EQ(weight.format(), weights::Format::f32);
  weight.expect_kept();
}

// Pieces that end within panels, of either order of strides.
TEST_P(WeightFormats, PiecesStandSideBySide) {
  constexpr int64_t kDepth = 21;
  const int64_t width = weights::register_tile(GetParam()).width();
  const std::vector<float> left = rounded(weights::Format::bf16, {kDepth, 70});
  const std::vector<float> right = rounded(weights::Format::bf16, {40, kDepth});
  const weights::PackSource sources[] = {{left.data(), 70, 1, 70},
                                         {right.data(), 1, kDepth, 40}};
  const weights::Coding coding = weights::find_coding(
      sources, kDepth, testing::formats(GetParam(), false));
  ASSERT_EQ(coding.format, weights::Format::bf16);
  const auto bytes = static_cast<size_t>(
      weights::packed_bytes(coding.format, kDepth, 110, width));
  const support::GuardedBytes packed(bytes);
  weights::pack_matrix(sources, kDepth, width, coding, packed.data());
  std::vector<float> floats(
      static_cast<size_t>(weights::packed_elements(kDepth, 110, width)));
  weights::pack_panels(sources, kDepth, width, floats.data());
  const auto* halves = reinterpret_cast<const uint16_t*>(packed.data());
  for (size_t i = 0; i < floats.size(); ++i)
    ASSERT_EQ(halves[i], BFloat16(floats[i]).bits) << i;
}

// As many quads are added in 16 bits as the weights allow; where clipping would
// leave much, they stay as they are.
TEST(QuadCodings, FollowTheNumbers) {
  const auto format_of = [](int least, int most,
                            std::vector<weights::Format> formats) {
    std::mt19937 random(5);
    std::uniform_int_distribution<int64_t> draw(least, most);
    std::vector<int64_t> numbers(64 * 32);
    for (int64_t& number : numbers) number = draw(random);
    const Tensor matrix = Tensor::from(numbers, {64, 32}).to(DType::i8);
    return weights::find_quad_coding({{}, {matrix}, {}}, formats).format;
  };
  using enum weights::Format;
  EXPECT_EQ(format_of(-16, 15, {quads1, quads2, quads4, quads}), quads4);
  EXPECT_EQ(format_of(31, 31, {quads1, quads2, quads4, quads}), quads2);
  EXPECT_EQ(format_of(63, 63, {quads1, quads2, quads4, quads}), quads1);
  EXPECT_EQ(format_of(-127, 127, {quads1, quads2, quads4, quads}), quads);
  EXPECT_EQ(format_of(-127, 127, {quads1, quads2, quads4}), quads1);
  EXPECT_EQ(format_of(-15, 15, {quads, quads1, quads2, quads4}), quads);
}

// A program whose products are of unclipped quads alone packs its own copy, even
// where another one keeps the weight clipped.
TEST(WeightsOfIntegers, ClippedCopiesServeThoseThatReadThem) {
  using enum weights::Format;
  const Tensor matrix = Tensor::full({8, 4}, 100, DType::i8);
  weights::Weight weight{{}, {matrix}, {}};
  weight.spec.depth = 8, weight.spec.columns = 4;
  weight.spec.formats = {quads1};
  weights::Store store(CpuLevel::avx2);
  weight.coding = store.coding(weight);
  const auto clipped =
      store.get({&weight, 1}, support::ThreadPool::shared(), 1);
  weight.spec.formats = {quads, quads1, quads2, quads4};
  EXPECT_NE(store.coding(weight).format, quads);
  weight.spec.formats = {quads};
  EXPECT_EQ(store.coding(weight).format, quads);
}

INSTANTIATE_TEST_SUITE_P(Levels, WeightFormats,
                         ::testing::ValuesIn(testing::host_levels()),
                         testing::level_name);
INSTANTIATE_TEST_SUITE_P(Emulated, WeightFormats,
                         ::testing::ValuesIn(testing::emulated_levels()),
                         testing::level_name);

}  // namespace TEST_FILE
}  // namespace fxjit::jit
