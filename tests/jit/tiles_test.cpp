// Contractions by register tiles against sums in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "tests/jit/compiled_tiles.h"
#include "tests/jit/jit_test_util.h"
#include "tests/support/analysed.h"
#include "tests/support/guarded_bytes.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::TileAccess;
using program::TileStep;
using support::GuardedBytes;
using testing::CompiledTiles;
using testing::host_levels;

std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

std::vector<float> randoms(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> values(count);
  for (float& v : values) v = value(random);
  return values;
}

struct Case {
  int64_t batch, rows, columns, depth;
};

// Aligned as packed weights are: there may be some bytes behind.
size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }

// How a step is given its right factor.
enum class Rhs { packed, as_it_is };

// out = max(sum + bias[n] + residual[m, n], 0), and the plain sum beside it.
class Product {
 public:
  Product(const Case& c, CpuLevel level, bool residual = true,
          Rhs kind = Rhs::packed)
      : case_(c), level_(level), residual_used_(residual), kind_(kind) {
    lhs_row_ = c.depth + 3;
    lhs_ = randoms(size_t((c.batch * c.rows - 1) * lhs_row_ + c.depth), 1);
    rhs_ = randoms(size_t(c.batch * c.depth * c.columns), 2);
    bias_ = randoms(size_t(c.columns), 3);
    residual_ = randoms(size_t(c.batch * c.rows * c.columns), 4);
    pack();
  }

  void expect_right() {
    const TileStep step = make_step();
    const CompiledTiles run(step, level_);
    for (GuardedBytes::Tight tight :
         {GuardedBytes::Tight::begin, GuardedBytes::Tight::end})
      expect_right(run, tight);
  }

 private:
  // Nothing can be read or written beside the operands.
  void expect_right(const CompiledTiles& run, GuardedBytes::Tight tight) {
    const size_t count = size_t(case_.batch * case_.rows * case_.columns);
    const GuardedBytes lhs(bytes_of(lhs_), tight);
    const GuardedBytes rhs(bytes_of(kind_ == Rhs::packed ? packed_ : rhs_),
                           tight);
    const GuardedBytes bias(bytes_of(bias_), tight);
    const GuardedBytes residual(bytes_of(residual_), tight);
    const GuardedBytes out(count * sizeof(float), tight);
    const GuardedBytes sum(count * sizeof(float), tight);
    std::vector<void*> operands{lhs.data(), rhs.data(), bias.data()};
    if (residual_used_) operands.push_back(residual.data());
    operands.insert(operands.end(), {out.data(), sum.data()});
    // In two runs, as two threads would.
    run(operands.data(), 0, run.tasks() / 2);
    run(operands.data(), run.tasks() / 2, run.tasks());
    for (int64_t b = 0; b < case_.batch; ++b)
      for (int64_t m = 0; m < case_.rows; ++m)
        for (int64_t n = 0; n < case_.columns; ++n)
          expect_element(b, m, n, reinterpret_cast<const float*>(out.data()),
                         reinterpret_cast<const float*>(sum.data()));
  }

  void pack() {
    const int64_t width = weights::register_tile(level_).width();
    const int64_t each =
        weights::packed_elements(case_.depth, case_.columns, width);
    packed_.assign(
        whole_lines(size_t(each * case_.batch) * sizeof(float)) / sizeof(float),
        7.0f);
    for (int64_t b = 0; b < case_.batch; ++b) {
      const weights::PackSource source{
          rhs_.data() + b * case_.depth * case_.columns, case_.columns, 1,
          case_.columns};
      weights::pack_panels({&source, 1}, case_.depth, width,
                           packed_.data() + b * each);
    }
  }

  TileStep make_step() const {
    TileStep step;
    step.batch = case_.batch;
    step.rows = case_.rows;
    step.columns = case_.columns;
    step.depth = case_.depth;
    step.lhs_batch = case_.rows * lhs_row_;
    step.lhs_row = lhs_row_;
    step.rhs_batched = case_.batch > 1;
    if (kind_ == Rhs::as_it_is) {
      step.rhs_row = case_.columns;
      step.rhs_batch = case_.depth * case_.columns;
    }
    const TileAccess whole{DType::f32, case_.rows * case_.columns,
                           case_.columns, 1};
    step.extras = {{DType::f32, 0, 0, 1}};
    if (residual_used_) step.extras.push_back(whole);
    step.outputs = {whole, whole};
    ScalarBuilder body;
    const Scalar sum = body.input(0, DType::f32);
    Scalar total = sum + body.input(1, DType::f32);
    if (residual_used_) total = total + body.input(2, DType::f32);
    step.epilogue = body.finish(
        {body.apply(Prim::maximum, total, body.constant(0, DType::f32)), sum});
    return step;
  }

  void expect_element(int64_t b, int64_t m, int64_t n, const float* out,
                      const float* sum) {
    double want = 0, size = 0;
    for (int64_t k = 0; k < case_.depth; ++k) {
      const double product =
          double(lhs_[size_t((b * case_.rows + m) * lhs_row_ + k)]) *
          rhs_[size_t((b * case_.depth + k) * case_.columns + n)];
      want += product;
      size += std::abs(product);
    }
    const size_t at = size_t((b * case_.rows + m) * case_.columns + n);
    const double bound = (size + 2) * (double(case_.depth) + 4) * 6e-8;
    ASSERT_NEAR(sum[at], want, bound) << b << " " << m << " " << n;
    want += bias_[size_t(n)] + (residual_used_ ? residual_[at] : 0);
    want = std::max(0.0, want);
    ASSERT_NEAR(out[at], want, bound) << b << " " << m << " " << n;
  }

  Case case_;
  CpuLevel level_;
  bool residual_used_;
  Rhs kind_;
  int64_t lhs_row_;
  std::vector<float> lhs_, rhs_, bias_, residual_, packed_;
};

// The sums of `rows` equal rows, strict.
std::vector<float> strict_sums(int64_t rows, CpuLevel level) {
  constexpr int64_t kDepth = 333, kColumns = 70;
  TileStep step;
  step.rows = rows;
  step.columns = kColumns;
  step.depth = kDepth;
  step.lhs_row = 0;
  step.strict = true;
  step.outputs = {{DType::f32, 0, kColumns, 1}};
  ScalarBuilder body;
  step.epilogue = body.finish({body.input(0, DType::f32)});
  const std::vector<float> lhs = randoms(kDepth, 5);
  const std::vector<float> rhs = randoms(kDepth * kColumns, 6);
  const int64_t width = weights::register_tile(level).width();
  std::vector<float> store(
      size_t(weights::packed_elements(kDepth, kColumns, width)) + 16);
  float* packed = store.data();
  while (reinterpret_cast<uintptr_t>(packed) % 64) ++packed;
  const weights::PackSource source{rhs.data(), kColumns, 1, kColumns};
  weights::pack_panels({&source, 1}, kDepth, width, packed);
  std::vector<float> out(size_t(rows * kColumns));
  void* operands[] = {const_cast<float*>(lhs.data()), packed, out.data()};
  CompiledTiles(step, level)(operands);
  return out;
}

class Tiles : public ::testing::TestWithParam<CpuLevel> {};

TEST_P(Tiles, MatchDoubleSums) {
  const Case cases[] = {
      {1, 1, 1, 1},     {1, 1, 64, 16},  {1, 2, 65, 7},   {1, 3, 130, 33},
      {1, 16, 192, 96}, {1, 7, 63, 5},   {1, 13, 17, 64}, {1, 200, 70, 40},
      {1, 397, 9, 12},  {3, 5, 20, 11},  {2, 17, 64, 32}, {1, 4, 8, 0},
      {1, 1, 300, 257}, {1, 1, 512, 64}, {1, 1, 449, 33}, {1, 128, 128, 48},
      {1, 6, 16, 2},    {4, 1, 33, 18},  {1, 23, 24, 20}, {1, 9, 40, 3},
      {1, 31, 48, 24},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << c.batch << " x " << c.rows << " x "
                                      << c.columns << " x " << c.depth);
    Product(c, GetParam()).expect_right();
  }
}

TEST_P(Tiles, PackRightFactorsThemselves) {
  const Case cases[] = {
      {1, 1, 1, 1},    {1, 1, 64, 16},  {1, 7, 63, 5},    {1, 64, 300, 40},
      {3, 5, 20, 11},  {2, 17, 64, 32}, {1, 4, 8, 0},     {1, 6, 1000, 257},
      {9, 3, 200, 18}, {1, 200, 70, 9}, {1, 500, 400, 3}, {16, 13, 130, 1500},
  };
  for (const Case& c : cases) {
    if (testing::is_emulated(GetParam()) &&
        c.batch * c.rows * c.columns * c.depth > 100'000)
      continue;
    SCOPED_TRACE(::testing::Message() << c.batch << " x " << c.rows << " x "
                                      << c.columns << " x " << c.depth);
    Product(c, GetParam(), true, Rhs::as_it_is).expect_right();
  }
}

// Without an operand that a result may replace, the last tile of a block may
// compute rows of the one before again.
TEST_P(Tiles, RowsComputedTwiceAreTheSame) {
  for (int64_t rows : {95, 190, 196, 398, 784}) {
    for (int64_t columns : {24, 64, 100}) {
      if (testing::is_emulated(GetParam()) && rows * columns > 5'000) continue;
      SCOPED_TRACE(::testing::Message() << rows << " x " << columns);
      const Case c{1, rows, columns, 18};
      Product(c, GetParam(), /*residual=*/false).expect_right();
    }
  }
}

TEST_P(Tiles, KeepNanAndInfinityInTheirRows) {
  TileStep step;
  step.rows = 9;
  step.columns = 40;
  step.depth = 8;
  step.lhs_row = 8;
  step.outputs = {{DType::f32, 0, 40, 1}};
  ScalarBuilder body;
  step.epilogue = body.finish({body.input(0, DType::f32)});
  std::vector<float> lhs(9 * 8, 1.0f), rhs(8 * 40, 2.0f);
  lhs[3 * 8 + 2] = std::numeric_limits<float>::quiet_NaN();
  lhs[5 * 8 + 1] = std::numeric_limits<float>::infinity();
  const int64_t width = weights::register_tile(GetParam()).width();
  std::vector<float> store(size_t(weights::packed_elements(8, 40, width)) + 16);
  float* packed = store.data();
  while (reinterpret_cast<uintptr_t>(packed) % 64) ++packed;
  const weights::PackSource source{rhs.data(), 40, 1, 40};
  weights::pack_panels({&source, 1}, 8, width, packed);
  std::vector<float> out(9 * 40);
  void* operands[] = {lhs.data(), packed, out.data()};
  CompiledTiles(step, GetParam())(operands);
  for (int m = 0; m < 9; ++m)
    for (int n = 0; n < 40; ++n) {
      const float value = out[size_t(m * 40 + n)];
      if (m == 3)
        EXPECT_TRUE(std::isnan(value));
      else if (m == 5)
        EXPECT_TRUE(std::isinf(value) && value > 0);
      else
        EXPECT_EQ(value, 16.0f);
    }
}

TEST_P(Tiles, StrictSumsDoNotDependOnTheNumberOfRows) {
  const std::vector<float> one = strict_sums(1, GetParam());
  for (int64_t rows : {2, 5, 19}) {
    const std::vector<float> many = strict_sums(rows, GetParam());
    for (size_t i = 0; i < many.size(); ++i)
      ASSERT_EQ(many[i], one[i % one.size()]) << rows << " rows, " << i;
  }
}

TileStep plain_product(int64_t rows, int64_t columns, int64_t depth) {
  TileStep step;
  step.rows = rows;
  step.columns = columns;
  step.depth = step.lhs_row = depth;
  step.outputs = {{DType::f32, 0, columns, 1}};
  ScalarBuilder body;
  step.epilogue = body.finish({body.input(0, DType::f32)});
  return step;
}

std::set<std::string> keys_of(const TileStep& step, CpuLevel level) {
  std::set<std::string> found;
  const program::TileRun run(program::analysed(step, level), level);
  for (const auto& form : run.forms()) found.insert(program::form_key(form));
  return found;
}

// Sizes are no part of a kernel: products of equal epilogues and widths share
// those of five and six rows.
TEST_P(Tiles, ShareKernelsBetweenSizes) {
  const auto known = keys_of(plain_product(49, 768, 768), GetParam());
  EXPECT_EQ(known.size(), 2u);
  for (int64_t rows : {50, 64, 100, 128, 511, 3136})
    for (const auto& key : keys_of(plain_product(rows, 2304, 333), GetParam()))
      EXPECT_TRUE(known.contains(key)) << rows << "\n" << key;
}

// Types are part of it, and those that no code is made for are refused.
TEST_P(Tiles, OfOtherTypesAreOtherKernels) {
  const TileStep usual = plain_product(1, 64, 64);
  TileStep lhs = usual, sums = usual;
  lhs.lhs = DType::bf16;
  sums.sums = DType::f64;
  for (const TileStep& step : {lhs, sums}) {
    EXPECT_NE(step, usual);
    EXPECT_NE(keys_of(step, GetParam()), keys_of(usual, GetParam()));
    EXPECT_THROW(CompiledTiles(step, GetParam()), InternalError);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Tiles, ::testing::ValuesIn(host_levels()),
                         testing::level_name);
INSTANTIATE_TEST_SUITE_P(Emulated, Tiles,
                         ::testing::ValuesIn(testing::emulated_levels()),
                         testing::level_name);

}  // namespace TEST_FILE
}  // namespace fxjit::jit
