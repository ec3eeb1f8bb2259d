// Positions of extrema, cumulative sums and rolled tensors in compiled
// programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit {
namespace TEST_FILE {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::random_tensor;

template <typename Fn>
void expect_native(Fn fn, const Tensor& x) {
  const auto gm = fx::symbolic_trace(fn, {"x"}, "f");
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      compile(*gm, testing::options_for(level, threads));
      EXPECT_EQ(testing::value_difference(gm->forward({x}),
                                          gm->interpret(ValueList{x}), 1e-6,
                                          1e-6),
                "");
      EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
      EXPECT_THAT(report(*gm), Not(HasSubstr("interpreter")));
    }
}

constexpr DType kNumbers[] = {DType::f32, DType::f64,  DType::f16, DType::bf16,
                              DType::i8,  DType::u8,   DType::i16, DType::i32,
                              DType::i64, DType::boolean};

TEST(Positions, AlongEveryDim) {
  for (DType dtype : kNumbers)
    for (const Value& dim : {Value(0), Value(1), Value(-1), Value()}) {
      const auto places = [=](Value x) {
        return Value::tuple({argmax(x * 1, dim), argmin(x, dim, true)});
      };
      // Small integers are equal in many places: the first one counts.
      expect_native(places, random_tensor({5, 33, 18}, dtype));
    }
}

TEST(Positions, OfNaNAndInfinities) {
  const Tensor x = random_tensor({6, 50});
  float* at = x.data_as<float>();
  at[7] = at[30] = NAN;            // Row 0: the first of two.
  at[60] = INFINITY, at[61] = NAN;
  at[120] = -INFINITY;
  for (int i = 150; i < 200; ++i) at[i] = -INFINITY;
  at[299] = NAN;
  expect_native(
      [](Value x) { return Value::tuple({argmax(x, 1), argmin(x, 0)}); }, x);
}

TEST(Positions, WithTheirValues) {
  expect_native([](Value x) { return max(x, 1); }, random_tensor({4, 70}));
  expect_native([](Value x) { return min(x, 0, true); },
                random_tensor({4, 70}));
}

TEST(CumulativeSums, AlongEveryDimOfEveryType) {
  for (DType dtype : kNumbers)
    for (int dim : {0, 1, 2})
      for (const Dims& sizes : {Dims{3, 40, 70}, Dims{1, 1, 1}, Dims{2, 0, 3}})
        expect_native([=](Value x) { return cumsum(x, dim); },
                      random_tensor(sizes, dtype));
}

TEST(CumulativeSums, OfStridedInputs) {
  expect_native(
      [](Value x) { return cumsum(transpose(x, 0, 1), 0) * 2; },
      random_tensor({37, 50}));
  const Tensor wide = random_tensor({20, 60});
  expect_native([](Value x) { return cumsum(x, -1); },
                wide.as_strided({20, 20}, {60, 3}, 1));
}

TEST(Rolled, ByAnyShift) {
  for (int64_t shift : {0, 1, -3, 7, 23}) {
    expect_native([=](Value x) { return roll(x, shift) + 1; },
                  random_tensor({4, 7}));
    expect_native([=](Value x) { return roll(x, {shift, -1}, {0, 2}); },
                  random_tensor({4, 5, 6}));
  }
}

// What is not moved is a copy all the same.
TEST(Rolled, IsNoView) {
  const auto gm =
      fx::symbolic_trace([](Value x) { return roll(x, 0, 0); }, {"x"}, "f");
  compile(*gm, testing::quick());
  const Tensor x = random_tensor({3, 4});
  EXPECT_NE(gm->forward({x}).as_tensor().data(), x.data());
}

}  // namespace TEST_FILE
}  // namespace fxjit
