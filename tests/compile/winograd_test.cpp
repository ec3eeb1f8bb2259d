// Convolutions by transforms in compiled modules, held against direct ones in
// double precision.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

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

Tensor normals(const Dims& sizes, double deviation, uint32_t seed) {
  Tensor t = Tensor::empty(sizes);
  std::mt19937 random(seed);
  std::normal_distribution<double> value(0, deviation);
  for (int64_t i = 0; i < t.numel(); ++i)
    t.data_as<float>()[i] = static_cast<float>(value(random));
  return t;
}

Tensor filter(int64_t features, int64_t channels, uint32_t seed = 3) {
  return normals({features, channels, 3, 3},
                 std::sqrt(1.0 / (9.0 * static_cast<double>(channels))), seed);
}

CompileOptions direct(CompileOptions options) {
  options.convolution = CompileOptions::Convolution::direct;
  return options;
}

// fn(x...) by a convolution that is transformed is what the interpreter gives
// for doubles.
template <typename Fn>
void expect_right(Fn fn, const ValueList& inputs) {
  std::vector<nn::ArgSpec> names;
  for (size_t i = 0; i < inputs.size(); ++i)
    names.emplace_back("x" + std::to_string(i));
  const auto gm = fx::symbolic_trace(fn, nn::Signature(names), "f");
  const Value wanted = gm->interpret(inputs);
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      compile(*gm, testing::options_for(level, threads));
      EXPECT_EQ(
          testing::value_difference(gm->forward(inputs), wanted, 2e-6, 1e-5),
          "");
      EXPECT_THAT(report(*gm), HasSubstr("winograd"));
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    }
}

Value same(const Value& x, const Tensor& weight, const Value& bias = None) {
  return F::conv2d(x, weight, bias, Value(1), Value(1));
}

TEST(Winograd, SizesOfAllKinds) {
  struct Sizes {
    int64_t batch, channels, features, height, width;
  };
  for (const auto& [n, c, o, h, w] : {Sizes{1, 16, 16, 24, 24},
                                      {2, 17, 33, 7, 13},
                                      {3, 40, 24, 15, 6},
                                      {1, 64, 100, 14, 14},
                                      {2, 31, 48, 30, 7}}) {
    const Tensor weight = filter(o, c), bias = normals({o}, 1, 4);
    const Value x = normals({n, c, h, w}, 1, 5);
    expect_right([&](Value x) { return F::relu(same(x, weight, bias)); }, {x});
    expect_right([&](Value x) { return F::conv2d(x, weight); }, {x});
  }
}

TEST(Winograd, EpiloguesOfAllKinds) {
  const Tensor weight = filter(24, 24), other = filter(24, 24, 8);
  const Value x = normals({2, 24, 10, 11}, 1, 5);
  const Value gate = normals({2, 24, 1, 1}, 1, 6);
  const Value mask = normals({1, 1, 10, 11}, 1, 7);
  expect_right(
      [&](Value x) {
        const Value y = F::silu(same(x, weight));
        return F::gelu(same(y, other) + y) + x;
      },
      {x});
  // Several results, also of another type.
  expect_right(
      [&](Value x) {
        const Value y = same(x, weight);
        return Value::tuple({F::relu(y), y * 2, y > 0});
      },
      {x});
  expect_right([&](Value x, Value g) { return same(x, weight) * sigmoid(g); },
               {x, gate});
  expect_right([&](Value x, Value m) { return same(x, weight) + m; },
               {x, mask});
  // The same convolution twice, of another input.
  expect_right(
      [&](Value x) { return same(same(same(x, weight), other), weight); }, {x});
}

TEST(Winograd, InputsOfAllStrides) {
  const Tensor weight = filter(16, 20);
  const auto conv = [&](Value x) { return same(x, weight); };
  const Tensor all = normals({2, 41, 21, 19}, 1, 5);
  expect_right(conv,
               {all.as_strided({2, 20, 10, 9},
                               {41 * 21 * 19, 2 * 21 * 19, 2 * 19, 2}, 3)});
  // Channels last, a part of more channels.
  expect_right(
      conv, {all.as_strided({2, 20, 10, 9}, {41 * 21 * 19, 1, 41 * 9, 41}, 5)});
  expect_right(conv, {all.as_strided({2, 20, 10, 9}, {0, 1, 0, 41}, 0)});
  expect_right(
      [&](Value x) { return same(getitem(chunk(x, 2, 1), 1), weight); },
      {normals({1, 40, 9, 8}, 1, 6)});
  expect_right(
      [&](Value x) {
        return F::conv2d(x, weight, None, Value(1), Value("same"));
      },
      {normals({20, 10, 9}, 1, 6)});
}

TEST(Winograd, EmptyBatches) {
  const Tensor weight = filter(16, 16);
  const auto gm = fx::symbolic_trace(
      [&](Value x) { return F::relu(same(x, weight)); }, {"x"}, "f");
  compile(*gm, testing::quick());
  const Value out = gm->forward({Tensor::empty({0, 16, 8, 8})});
  EXPECT_EQ(out.as_tensor().sizes(), (Dims{0, 16, 8, 8}));
}

double rms_error(const Tensor& got, const Tensor& wanted) {
  double squares = 0, total = 0;
  for (int64_t i = 0; i < wanted.numel(); ++i) {
    const double w = wanted.data_as<double>()[i];
    squares += std::pow(got.data_as<float>()[i] - w, 2);
    total += w * w;
  }
  return std::sqrt(squares / total);
}

TEST(Winograd, RoundsAtMostTwiceAsMuchAsDirectSums) {
  struct Sizes {
    int64_t channels, size;
  };
  for (const auto& [channels, size] :
       {Sizes{16, 32}, {32, 24}, {64, 20}, {128, 14}, {256, 7}}) {
    const Tensor weight = filter(32, channels);
    const Tensor x = normals({1, channels, size, size}, 1, 9);
    const Tensor wide = weight.to(DType::f64);
    const Value wanted =
        fx::symbolic_trace([&](Value x) { return same(x, wide); }, {"x"}, "f")
            ->interpret(ValueList{x.to(DType::f64)});
    const auto gm = fx::symbolic_trace([&](Value x) { return same(x, weight); },
                                       {"x"}, "f");
    for (CpuLevel level : testing::host_levels()) {
      const auto error = [&](const CompileOptions& options) {
        compile(*gm, options);
        return rms_error(gm->forward({x}).as_tensor().contiguous(),
                         wanted.as_tensor().contiguous());
      };
      EXPECT_LT(error(testing::options_for(level)),
                2 * error(direct(testing::options_for(level))))
          << channels << " channels, " << cpu_level_name(level);
    }
  }
}

TEST(Winograd, SpecialNumbersStayInTheirTiles) {
  const Tensor weight = filter(16, 16);
  const auto gm =
      fx::symbolic_trace([&](Value x) { return same(x, weight); }, {"x"}, "f");
  Tensor x = normals({1, 16, 16, 16}, 1, 5);
  x.data_as<float>()[(3 * 16 + 6) * 16 + 6] =
      std::numeric_limits<float>::infinity();
  for (CpuLevel level : testing::host_levels()) {
    compile(*gm, testing::options_for(level));
    const Tensor out = gm->forward({x}).as_tensor().contiguous();
    for (int64_t i = 0; i < out.numel(); ++i) {
      const int64_t row = i / 16 % 16, column = i % 16;
      const bool finite = std::isfinite(out.data_as<float>()[i]);
      if (std::abs(row - 6) <= 1 && std::abs(column - 6) <= 1)
        EXPECT_FALSE(finite);
      else if (row / 4 != 1 || column / 4 != 1)
        EXPECT_TRUE(finite) << row << " " << column;
    }
  }
}

TEST(Winograd, DirectConvolutionsOnDemand) {
  const Tensor weight = filter(16, 16);
  const auto gm =
      fx::symbolic_trace([&](Value x) { return same(x, weight); }, {"x"}, "f");
  const Value x = normals({1, 16, 12, 12}, 1, 5);
  compile(*gm, direct(testing::quick()));
  gm->forward({x});
  EXPECT_THAT(report(*gm), Not(HasSubstr("winograd")));
  CompileOptions strict = testing::quick();
  strict.strict_sums = true;
  compile(*gm, strict);
  gm->forward({x});
  EXPECT_THAT(report(*gm), Not(HasSubstr("winograd")));
}

// One packed copy for all shapes and all uses of a weight.
TEST(Winograd, WeightsArePackedOnce) {
  const Tensor weight = filter(32, 32);
  const auto gm = fx::symbolic_trace(
      [&](Value x) { return same(same(x, weight), weight); }, {"x"}, "f");
  compile(*gm, testing::quick());
  const ValueList small{normals({1, 32, 16, 16}, 1, 5)};
  const ValueList large{normals({1, 32, 24, 20}, 1, 5)};
  gm->forward(small);
  const size_t once = profile(*gm, small, 1).packed_bytes;
  EXPECT_EQ(once, size_t{36 * 32 * 32 * 4});
  gm->forward(large);
  EXPECT_EQ(profile(*gm, large, 1).packed_bytes, once);
}

}  // namespace TEST_FILE
}  // namespace fxjit
