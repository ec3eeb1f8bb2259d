// Row work over dims that are not the last ones, compiled, against double
// precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using testing::random_tensor;

// softmax over dim 1 of [outer, inner, neighbours].
Tensor softmax_oracle(const Tensor& x) {
  const Tensor wide = x.to(DType::f64);
  Tensor out = Tensor::full(x.sizes(), 0.0, DType::f64);
  std::copy_n(wide.data_as<double>(), x.numel(), out.data_as<double>());
  const int64_t inner = x.size(1), neighbours = x.size(2);
  for (int64_t o = 0; o < x.size(0); ++o)
    for (int64_t n = 0; n < neighbours; ++n) {
      auto* row = out.data_as<double>() + o * inner * neighbours + n;
      double most = -std::numeric_limits<double>::infinity(), total = 0;
      for (int64_t i = 0; i < inner; ++i) {
        const double element = row[i * neighbours];
        most = std::isnan(element) || element > most ? element : most;
      }
      for (int64_t i = 0; i < inner; ++i)
        total += std::exp(row[i * neighbours] - most);
      for (int64_t i = 0; i < inner; ++i)
        row[i * neighbours] = std::exp(row[i * neighbours] - most) / total;
    }
  return out;
}

// fn over dim 1 at every level, by one and by two threads.
template <typename Fn, typename Oracle>
void expect_rows(Fn fn, const Tensor& x, double near, Oracle oracle) {
  const auto gm = fx::symbolic_trace(fn, {"x"}, "f");
  const Tensor expected = oracle(x);
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      compile(*gm, testing::options_for(level, threads));
      const Tensor got = gm->forward({x}).as_tensor();
      EXPECT_EQ(testing::value_difference(got.to(DType::f64), expected, near,
                                          near / 4),
                "")
          << x.sizes().str();
    }
}

Value over_rows(Value x) { return softmax(x, 1); }

TEST(InnerRows, SoftmaxEqualsDoublePrecision) {
  for (const Dims& sizes :
       {Dims{3, 2, 16}, Dims{2, 7, 130}, Dims{2, 64, 65}, Dims{1, 300, 40},
        Dims{1, 513, 20}, Dims{5, 20, 15}, Dims{0, 20, 20}, Dims{2, 20, 0},
        Dims{2, 2000, 40}, Dims{64, 49, 8}, Dims{100, 20, 3}, Dims{3, 2, 2},
        Dims{7, 1300, 5}, Dims{1, 5000, 12}, Dims{0, 20, 3}, Dims{4, 1, 3},
        Dims{5, 130, 1}})
    expect_rows(over_rows, random_tensor(sizes), 4e-6, softmax_oracle);
}

// Positions that lie a multiple of a cache's size apart are met once for more
// rows, of which some are left.
TEST(InnerRows, PositionsFarApart) {
  for (const Dims& sizes : {Dims{1, 300, 544}, Dims{1, 20, 1024},
                            Dims{2, 9, 2100}, Dims{1, 11, 4096}})
    expect_rows(over_rows, random_tensor(sizes), 4e-6, softmax_oracle);
}

TEST(InnerRows, OfOtherTypes) {
  for (int64_t neighbours : {40, 3, 8}) {
    const Dims sizes{2, 20, neighbours};
    expect_rows(over_rows, random_tensor(sizes, DType::f64), 1e-13,
                softmax_oracle);
    expect_rows(over_rows, random_tensor(sizes, DType::f16), 2e-3,
                softmax_oracle);
    expect_rows(over_rows, random_tensor(sizes, DType::bf16), 1e-2,
                softmax_oracle);
  }
}

TEST(InnerRows, NanAndInfinityStay) {
  for (int64_t neighbours : {40, 3, 7, 8}) {
    Tensor x = random_tensor({2, 20, neighbours});
    auto* data = x.data_as<float>();
    data[1] = std::numeric_limits<float>::quiet_NaN();
    data[neighbours + 2] = -std::numeric_limits<float>::infinity();
    data[19 * neighbours] = std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < 20; ++i)
      data[(20 + i) * neighbours] = -std::numeric_limits<float>::infinity();
    expect_rows(over_rows, x, 4e-6, softmax_oracle);
  }
}

// Of rows so long that several positions are reduced side by side.
TEST(InnerRows, NanAndInfinityOfLongRows) {
  const auto range = [](Value x) {
    return x - amax(x, 1, true) + amin(x, 1, true);
  };
  const auto interpreted = [&](const Tensor& x) {
    return fx::symbolic_trace(range, {"x"}, "f")
        ->interpret(ValueList{x})
        .as_tensor()
        .to(DType::f64);
  };
  for (int64_t inner : {255, 301, 302, 1400})
    for (int64_t neighbours : {40, 11, 5}) {
      Tensor x = random_tensor({2, inner, neighbours});
      auto* data = x.data_as<float>();
      data[3] = std::numeric_limits<float>::quiet_NaN();
      data[(inner - 1) * neighbours + 2] =
          std::numeric_limits<float>::quiet_NaN();
      data[neighbours + 4] = -std::numeric_limits<float>::infinity();
      data[(inner - 2) * neighbours + 1] =
          std::numeric_limits<float>::infinity();
      expect_rows(range, x, 4e-6, interpreted);
      expect_rows(over_rows, x, 4e-6, softmax_oracle);
    }
}

// Rows of a view, whose neighbours lie apart.
TEST(InnerRows, OfStridedViews) {
  const Tensor whole = random_tensor({2, 30, 100});
  const Tensor view = whole.as_strided({2, 20, 40}, {3000, 100, 2}, 7);
  Tensor dense = Tensor::full({2, 20, 40}, 0.0, DType::f32);
  for (int64_t i = 0; i < 2 * 20 * 40; ++i)
    dense.data_as<float>()[i] =
        whole.data_as<float>()[7 + i / 800 * 3000 + i / 40 % 20 * 100 +
                               i % 40 * 2];
  expect_rows(over_rows, view, 4e-6,
              [&](const Tensor&) { return softmax_oracle(dense); });
}

// A norm whose factors lie along the rows and along the neighbours.
TEST(InnerRows, NormsEqualTheInterpreter) {
  const Value scale = random_tensor({30, 1}, DType::f32, 2);
  const Value shift = random_tensor({40}, DType::f32, 3);
  const auto norm = [=](Value x) {
    const Value centred = x - mean(x, 1, true);
    const Value spread = sqrt(mean(centred * centred, 1, true) + 1e-5);
    return centred / spread * scale + shift;
  };
  const auto interpreted = [&](const Tensor& x) {
    return fx::symbolic_trace(norm, {"x"}, "f")
        ->interpret(ValueList{x})
        .as_tensor()
        .to(DType::f64);
  };
  expect_rows(norm, random_tensor({3, 30, 40}), 2e-5, interpreted);
  const auto plain = [](Value x) {
    const Value centred = x - mean(x, 1, true);
    return centred * rsqrt(mean(centred * centred, 1, true) + 1e-5);
  };
  expect_rows(plain, random_tensor({2, 403, 40}), 2e-5, [&](const Tensor& x) {
    return fx::symbolic_trace(plain, {"x"}, "f")
        ->interpret(ValueList{x.to(DType::f64)})
        .as_tensor();
  });
}

// The bias keeps the two dims behind the rows apart.
TEST(InnerRows, NeighboursAlongTheLastDimAlone) {
  for (int64_t width : {2, 4, 8, 15}) {
    const Value bias = random_tensor({width}, DType::f32, 4);
    const auto biased = [=](Value x) { return softmax(x + bias, 1); };
    const auto interpreted = [&](const Tensor& x) {
      return fx::symbolic_trace(biased, {"x"}, "f")
          ->interpret(ValueList{x.to(DType::f64)})
          .as_tensor();
    };
    expect_rows(biased, random_tensor({2, 20, 8, width}), 4e-6, interpreted);
  }
}

// Bits of the first of `many` items, beside the others and alone.
void expect_same_alone(Value (*fn)(Value), const Tensor& many) {
  CompileOptions options;
  options.strict_sums = true;
  const auto run = [&](const Tensor& x) {
    const auto gm = fx::symbolic_trace(fn, {"x"}, "f");
    compile(*gm, options);
    return gm->forward({x}).as_tensor().contiguous();
  };
  Dims sizes = many.sizes();
  sizes[0] = 1;
  const Tensor beside = run(many);
  const Tensor alone = run(many.as_strided(sizes, many.strides(), 0));
  ASSERT_GT(alone.numel(), 0);
  EXPECT_EQ(std::memcmp(alone.data(), beside.data(),
                        static_cast<size_t>(alone.numel()) * sizeof(float)),
            0);
}

TEST(InnerRows, StrictSumsDoNotDependOnTheBatch) {
  for (int64_t batch : {2, 3, 16}) {
    const Tensor x = random_tensor({batch, 100, 2, 4});
    expect_same_alone([](Value v) { return sum(permute(v, {0, 2, 3, 1}), -1); },
                      x);
    expect_same_alone(
        [](Value v) { return softmax(permute(v, {0, 2, 3, 1}), -1); }, x);
    expect_same_alone([](Value v) { return softmax(v, 1); }, x);
    expect_same_alone(
        [](Value v) { return v - mean(v, Value::list({1}), true); }, x);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit
