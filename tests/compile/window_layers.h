// What tests of windows in compiled modules share: layers drawn at random, and
// the comparison with the graph in double precision.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <random>

#include "fxjit/functions.h"
#include "fxjit/fx.h"
#include "fxjit/fxjit.h"
#include "tests/compile/compile_testing.h"

namespace fxjit::testing_windows {

namespace F = nn::functional;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::random_tensor;

// Draws what layers look like.
class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}

  int64_t of(std::initializer_list<int64_t> numbers) {
    return numbers.begin()[random_() % numbers.size()];
  }
  Dims dims(int count, std::initializer_list<int64_t> numbers) {
    Dims result;
    for (int i = 0; i < count; ++i) result.push_back(of(numbers));
    return result;
  }
  bool half() { return of({0, 1}) == 1; }

 private:
  std::mt19937 random_;
};

// [N, C, ...], by turns with channels innermost, and then also a part of more.
inline Tensor image(const Dims& sizes, Draw& draw) {
  if (draw.half()) return random_tensor(sizes);
  const int64_t channels = sizes[1], pitch = channels + draw.of({0, 0, 5});
  Dims strides(sizes.size(), 1);
  int64_t step = pitch;
  for (int d = sizes.size() - 1; d >= 0; --d) {
    const int dim = d == 1 ? 0 : d == 0 ? 1 : d;
    if (dim == 1) continue;
    strides[dim] = step;
    step *= sizes[dim];
  }
  return random_tensor({step}).as_strided(sizes, strides, 0);
}

// No window is larger than the padded image.
inline int64_t pad_of(int64_t size, int64_t taps, int64_t dilation,
                      Draw& draw) {
  const int64_t reach = (taps - 1) * dilation + 1, pad = draw.of({0, 1, 3});
  return size >= reach ? pad : std::max(pad, (reach + 1) / 2);
}

inline void set_special(const Tensor& x, Draw& draw) {
  const float numbers[] = {std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity()};
  const Tensor flat = x.is_contiguous() ? x : x.as_strided({1}, {1}, 0);
  flat.data_as<float>()[flat.numel() / 2] =
      numbers[static_cast<size_t>(draw.of({0, 1, 2}))];
}

// How far results of a type may be off, of numbers of about ten that are
// rounded some times.
inline double tolerance_of(DType type) {
  switch (type) {
    case DType::f16:
      return 2e-2;
    case DType::bf16:
      return 1.5e-1;
    case DType::f64:
      return 1e-11;
    default:
      return 1e-4;
  }
}

// Numbers that the type has as well.
inline Tensor rounded(const Tensor& x, DType type) {
  return x.to(type).to(DType::f32);
}

// `make(type)` is a function of an image, with its weights of this type.
template <typename Make>
auto traced(Make make, DType type) {
  return fx::symbolic_trace(make(type), nn::Signature({nn::ArgSpec("x")}), "f");
}

// That function, compiled for `type` and in double precision.
template <typename Make>
void expect_right_of(DType type, Make make, const Tensor& x) {
  const Value wanted = traced(make, DType::f64)->forward({x.to(DType::f64)});
  const double tolerance = tolerance_of(type);
  const auto gm = traced(make, type);
  for (CpuLevel level : testing::host_levels())
    for (int threads : {1, 2}) {
      SCOPED_TRACE(cpu_level_name(level));
      compile(*gm, testing::options_for(level, threads));
      const Tensor got = gm->forward({x.to(type)}).as_tensor();
      EXPECT_EQ(testing::value_difference(got.to(DType::f64), wanted,
                                          tolerance / 10, tolerance),
                "");
      if (type == DType::f32)
        EXPECT_THAT(report(*gm), Not(HasSubstr("not native")));
    }
}

// No call of it stays with a routine or the interpreter.
template <typename Make>
void expect_right(Make make, const Tensor& x) {
  expect_right_of(DType::f32, make, x);
}

// What is done to the sums.
inline Value finished(const Value& y, const Value& scale, int64_t kind) {
  switch (kind) {
    case 0:
      return y;
    case 1:
      return F::relu(y * scale);
    default:
      return F::silu(y + scale) + 0.5;
  }
}

}  // namespace fxjit::testing_windows
