// Products by codes of a few bits with a scale for each block of the depth,
// held against sums in double precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using testing::host_levels;
using ::testing::Not;
using testing::options_for;
using testing::random_tensor;

enum class Zeros : uint8_t { none, one, each };

struct Layout {
  int64_t depth, columns, block;
  int bits = 4;
  DType codes = DType::u8;
  Zeros zeros = Zeros::each;
  DType scales = DType::f32;
  bool by_column = true;
};

// A matrix of such numbers, as a program has it and as plain numbers.
class Weight {
 public:
  explicit Weight(const Layout& layout)
      : at_(layout), blocks_((at_.depth + at_.block - 1) / at_.block) {
    const int64_t rows = at_.by_column ? at_.columns : at_.depth;
    const int64_t row = at_.by_column ? blocks_ * at_.block : at_.columns;
    const int64_t bytes = (row * at_.bits + 7) / 8;
    codes_ = Tensor::empty({rows, bytes}, at_.codes);
    for (int64_t i = 0; i < codes_.numel(); ++i)
      codes_.data_as<uint8_t>()[i] = static_cast<uint8_t>(random_() >> 8);
    scales_ =
        random_tensor({blocks_, at_.columns}, DType::f32, 7).to(at_.scales);
    if (at_.zeros == Zeros::none) return;
    zeros_ = at_.zeros == Zeros::one
                 ? Tensor::empty({1, 1}, at_.codes)
                 : Tensor::empty({blocks_, at_.columns}, at_.codes);
    const int low = at_.codes == DType::u8 ? 0 : -(1 << (at_.bits - 1));
    for (int64_t i = 0; i < zeros_.numel(); ++i)
      zeros_.data_as<uint8_t>()[i] = static_cast<uint8_t>(
          low + static_cast<int>(random_() % (1u << at_.bits)));
  }

  Value product(const Value& x) const {
    return function(
        "fxjit.blocked_product",
        {x, codes_, scales_, zeros_.defined() ? Value(zeros_) : Value(),
         at_.block, at_.bits, at_.by_column});
  }

  double at(int64_t k, int64_t n) const {
    const int64_t row = at_.by_column ? n : k, place = at_.by_column ? k : n;
    const int64_t each = 8 / at_.bits;
    const uint8_t byte =
        codes_.data_as<uint8_t>()[row * codes_.size(1) + place / each];
    int code = byte >> (place % each * at_.bits) & ((1 << at_.bits) - 1);
    if (at_.codes == DType::i8 && code >= 1 << (at_.bits - 1))
      code -= 1 << at_.bits;
    const int64_t parameter = k / at_.block * at_.columns + n;
    int zero = 0;
    if (zeros_.defined()) {
      const int64_t i = at_.zeros == Zeros::one ? 0 : parameter;
      zero = at_.codes == DType::u8 ? int{zeros_.data_as<uint8_t>()[i]}
                                    : int{zeros_.data_as<int8_t>()[i]};
    }
    const Tensor scales = scales_.to(DType::f32);
    return (code - zero) * double{scales.data_as<float>()[parameter]};
  }

  const Layout& layout() const { return at_; }

 private:
  const Layout at_;
  int64_t blocks_;
  std::mt19937 random_{3};
  Tensor codes_, scales_, zeros_;
};

// Sums of each row, and how far from them those of floats may be.
void expect_sums(const Weight& weight, const Tensor& x, const Tensor& got) {
  const auto [depth, columns] =
      std::pair(weight.layout().depth, weight.layout().columns);
  ASSERT_EQ(got.sizes(), Dims({x.size(0), columns}));
  for (int64_t n = 0; n < columns; ++n) {
    std::vector<double> numbers;
    for (int64_t k = 0; k < depth; ++k) numbers.push_back(weight.at(k, n));
    for (int64_t m = 0; m < x.size(0); ++m) {
      double sum = 0, size = 0;
      for (int64_t k = 0; k < depth; ++k) {
        const double product =
            x.data_as<float>()[m * depth + k] * numbers[static_cast<size_t>(k)];
        sum += product, size += std::abs(product);
      }
      ASSERT_NEAR(got.data_as<float>()[m * columns + n], sum, 1e-6 * size)
          << "row " << m << ", column " << n;
    }
  }
}

void expect_exact(const Layout& layout, std::initializer_list<int64_t> rows) {
  SCOPED_TRACE(::testing::Message()
               << layout.depth << " x " << layout.columns << ", blocks of "
               << layout.block << ", " << layout.bits << " bits");
  const Weight weight(layout);
  const auto gm = fx::symbolic_trace([&](Value x) { return weight.product(x); },
                                     {"x"}, "f");
  for (const int64_t count : rows) {
    const Tensor x = random_tensor({count, layout.depth}, DType::f32, 5);
    const ValueList inputs{x};
    expect_sums(weight, x, gm->interpret(inputs).as_tensor().contiguous());
    for (CpuLevel level : host_levels()) {
      compile(*gm, options_for(level, count > 1 ? 2 : 1));
      expect_sums(weight, x, gm->forward(inputs).as_tensor().contiguous());
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    }
  }
}

TEST(BlockedWeights, BlocksOfAllSizes) {
  for (const int64_t block : {16, 32, 64, 128, 256})
    for (const Zeros zeros : {Zeros::none, Zeros::one, Zeros::each})
      expect_exact({.depth = 2 * block + 13,
                    .columns = 37,
                    .block = block,
                    .zeros = zeros},
                   {1, 3});
}

TEST(BlockedWeights, CodesOfAllBits) {
  for (const int bits : {2, 4, 8})
    for (const DType codes : {DType::u8, DType::i8})
      for (const bool by_column : {false, true})
        expect_exact({.depth = 75,
                      .columns = 70,
                      .block = 32,
                      .bits = bits,
                      .codes = codes,
                      .scales = DType::f16,
                      .by_column = by_column},
                     {1, 2, 5});
}

// Blocks that end within words, and one number in all.
TEST(BlockedWeights, OddSizes) {
  expect_exact({.depth = 1, .columns = 1, .block = 16}, {1, 2});
  expect_exact({.depth = 50, .columns = 66, .block = 20}, {1, 4});
  expect_exact({.depth = 101,
                .columns = 33,
                .block = 101,
                .bits = 8,
                .codes = DType::i8,
                .zeros = Zeros::none,
                .scales = DType::bf16},
               {1, 6});
}

TEST(BlockedWeights, RowsOfAllCounts) {
  expect_exact({.depth = 96, .columns = 130, .block = 32},
               {1, 2, 6, 7, 49, 200});
}

// Panels that are decoded once: the last one is of few columns, the last block
// of few rows.
TEST(BlockedWeights, ManyRowsOfCodesOfAllBits) {
  for (const int bits : {2, 4, 8})
    for (const Zeros zeros : {Zeros::none, Zeros::each})
      for (const DType scales : {DType::f16, DType::f32})
        expect_exact({.depth = 77,
                      .columns = 150,
                      .block = 32,
                      .bits = bits,
                      .zeros = zeros,
                      .scales = scales},
                     {13, 61});
}

TEST(BlockedWeights, StrictSumsDoNotDependOnTheNumberOfRows) {
  const Weight weight({.depth = 96, .columns = 70, .block = 32});
  const auto gm = fx::symbolic_trace([&](Value x) { return weight.product(x); },
                                     {"x"}, "f");
  const Tensor x = random_tensor({40, 96}, DType::f32, 5);
  for (CpuLevel level : host_levels()) {
    CompileOptions options = options_for(level);
    options.strict_sums = true;
    compile(*gm, options);
    const ValueList all{x};
    const std::vector<float> many =
        gm->forward(all).as_tensor().contiguous().to_floats();
    for (const int64_t row : {0, 17, 39}) {
      const ValueList one{x.as_strided({1, 96}, {96, 1}, row * 96)};
      EXPECT_THAT(gm->forward(one).as_tensor().contiguous().to_floats(),
                  ::testing::ElementsAreArray(many.data() + row * 70, 70))
          << row;
    }
  }
}

size_t packed_bytes(const Layout& layout, CpuLevel level) {
  const Weight weight(layout);
  const auto gm = fx::symbolic_trace([&](Value x) { return weight.product(x); },
                                     {"x"}, "f");
  compile(*gm, options_for(level));
  const ValueList inputs{random_tensor({1, layout.depth})};
  prepare(*gm, inputs);
  return profile(*gm, inputs, 1).packed_bytes;
}

// Codes that were stored a byte each included.
TEST(BlockedWeights, StayAsNarrowAsTheyWere) {
  constexpr int64_t kDepth = 256, kColumns = 512, kNumbers = kDepth * kColumns;
  const Layout stored{
      .depth = kDepth, .columns = kColumns, .block = 32, .scales = DType::f16};
  for (CpuLevel level : host_levels()) {
    const int64_t scale = level == CpuLevel::sse41 ? 4 : 2;
    const int64_t most = kNumbers / 2 + kNumbers / 32 * (scale + 1);
    EXPECT_LE(packed_bytes(stored, level), static_cast<size_t>(most) + 64);
    Layout two = stored;
    two.bits = 2;
    EXPECT_LE(packed_bytes(two, level),
              static_cast<size_t>(most - kNumbers / 4) + 64);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
