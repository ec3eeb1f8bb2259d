// Floats quantised to 8 bits, of which integers are made without floats of the
// bounds: against the body as it is written.
#include "jit/emit/quantisings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "tests/jit/step_test_util.h"

namespace fxjit::jit {
namespace TEST_FILE {

using program::RowStep;
using testing::check_step;
using testing::Number;
using testing::row_access;

// round(x) + zero, held between `low` and `high`, NaN as `low`.
ScalarBody quantised(DType type, double low, double high, bool has_zero) {
  ScalarBuilder b;
  Scalar x = b.apply(Prim::round, b.input(0, DType::f32));
  if (has_zero) x = x + b.cast(b.input(1, type), DType::f32);
  const Scalar least = b.constant(low, DType::f32);
  const Scalar most = b.constant(high, DType::f32);
  x = b.select(b.apply(Prim::gt, x, least), x, least);
  x = b.select(b.apply(Prim::lt, x, most), x, most);
  return b.finish({b.cast(x, type)});
}

RowStep step_of(const ScalarBody& body, DType type, bool has_zero) {
  RowStep step;
  step.inner = 911;  // With a tail at every level.
  step.inputs = {row_access({}, 1), row_access({}, 1, type)};
  step.outputs = {row_access({}, 1, type)};
  step.body = body;
  if (!has_zero) step.inputs.pop_back();
  return step;
}

// Ties, numbers around the bounds of 8, 16 and 32 bits, and none.
Number number(int64_t i) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kFar[] = {kInfinity, -kInfinity, NAN,      0x1p30,
                             -0x1p31,   0x1p31,     -3e38,    3e38,
                             32768.5,   -32769,     -32640.5, 16777216};
  constexpr int64_t kCount = std::size(kFar);
  if (i % 3 == 0) return {kFar[i / 3 % kCount], 0};
  return {0.5 * static_cast<double>(i * 7 % 1301 - 650), 0};
}

Number zero(DType type, int64_t i) {
  const int least = type == DType::u8 ? 0 : -128;
  const int numbers[] = {least, least + 255, 3, least + 128};
  return {0, numbers[i / 5 % 4]};
}

TEST(Quantisings, AreThoseOfTheBody) {
  for (const DType type : {DType::u8, DType::i8}) {
    const double least = type == DType::u8 ? 0 : -128;
    const auto fill = [&](size_t slot, int64_t i) {
      return slot == 0 ? number(i) : zero(type, i);
    };
    for (const double cut : {0, 1, 100})
      for (const bool has_zero : {false, true}) {
        const ScalarBody body =
            quantised(type, least + cut, least + 255 - cut, has_zero);
        EXPECT_GE(Quantisings(body).of(body.results[0]).real, 0);
        check_step(step_of(body, type, has_zero), {.units = 0, .fill = fill});
      }
  }
}

// Bounds that the type does not hold, or that are no whole numbers.
TEST(Quantisings, OthersAreNone) {
  for (const auto& [low, high] :
       {std::pair{-1.0, 255.0}, {0.0, 256.0}, {0.5, 255.0}, {9.0, 3.0}}) {
    const ScalarBody body = quantised(DType::u8, low, high, true);
    EXPECT_LT(Quantisings(body).of(body.results[0]).real, 0);
  }
}

}  // namespace TEST_FILE
}  // namespace fxjit::jit
