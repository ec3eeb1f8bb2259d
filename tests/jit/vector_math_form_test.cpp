// The inlined functions in the forms that the sweep does not cover: scalars,
// other lane counts, f64, and calls to libm.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "jit/emit/vector_math.h"
#include "src/support/machine/vector_lanes.h"
#include "tests/jit/jit_test_util.h"

namespace fxjit::jit {
namespace TEST_FILE {

using testing::Kernel;
using Args = std::span<Value* const>;
using Emit = Value* (*)(VectorBuilder&, Value*);

struct Function {
  const char* name;
  Emit emit;
  double (*reference)(double);
};

const Function kFunctions[] = {
    {"exp", emit_exp, std::exp},
    {"exp_softmax", emit_exp_softmax, std::exp},
    {"log", emit_log, std::log},
    {"expm1", emit_expm1, std::expm1},
    {"log1p", emit_log1p, std::log1p},
    {"sigmoid", emit_sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"silu", emit_silu, [](double x) { return x / (1 + std::exp(-x)); }},
    {"gate",
     [](VectorBuilder& b, Value* x) { return emit_gate(b, x, b.add(x, x)); },
     [](double x) { return std::tanh(x) / (1 + std::exp(-2 * x)); }},
    {"sigmoid_product",
     [](VectorBuilder& b, Value* x) {
       return emit_sigmoid_product(b, b.add(x, x), x);
     },
     [](double x) { return 2 * x / (1 + std::exp(-x)); }},
    {"tanh", emit_tanh, std::tanh},
    {"erf", emit_erf, std::erf},
    {"gelu", emit_gelu,
     [](double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); }},
    {"gelu_tanh", emit_gelu_tanh,
     [](double x) {
       const double inner =
           std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
       return x / 2 * (1 + std::tanh(inner));
     }},
    {"rsqrt", emit_rsqrt, [](double x) { return 1 / std::sqrt(x); }},
};

constexpr int kCount = 32;

// `emit` over kCount elements, `lanes` at a time.
template <typename T>
std::vector<T> apply(CpuLevel level, DType dtype, int lanes, Emit emit,
                     const std::vector<T>& in) {
  Kernel<const T*, T*> kernel(level, [&](VectorBuilder& b, Args args) {
    llvm::Type* element = b.memory_type(dtype);
    b.loop(b.i64(0), b.i64(kCount), b.i64(lanes), [&](Value* i) {
      Value* x = b.load(dtype, b.offset(args[0], element, i), lanes);
      b.store(dtype, emit(b, x), b.offset(args[1], element, i));
    });
  });
  std::vector<T> out(kCount);
  kernel(in.data(), out.data());
  return out;
}

// Positive, as log and rsqrt want; near zero from below for softmax.
template <typename T>
std::vector<T> arguments(const Function& function) {
  std::vector<T> in(kCount);
  const bool negative = function.emit == emit_exp_softmax;
  for (int i = 0; i < kCount; ++i) {
    in[i] = T(0.01 + 0.17 * i) * (negative ? -1 : 1);
  }
  return in;
}

class VectorMathForm : public ::testing::TestWithParam<CpuLevel> {};

TEST_P(VectorMathForm, EveryLaneCountGivesTheSame) {
  const int native = support::vector_lanes(GetParam());
  for (const Function& function : kFunctions) {
    const auto in = arguments<float>(function);
    const auto want = apply(GetParam(), DType::f32, native, function.emit, in);
    for (int lanes : {1, 2, native / 2, native * 2}) {
      EXPECT_EQ(apply(GetParam(), DType::f32, lanes, function.emit, in), want)
          << function.name << " in " << lanes << " lanes";
    }
  }
}

TEST_P(VectorMathForm, DoublesAreAccurate) {
  for (const Function& function : kFunctions) {
    const auto in = arguments<double>(function);
    for (int lanes : {1, 4}) {
      const auto out = apply(GetParam(), DType::f64, lanes, function.emit, in);
      for (int i = 0; i < kCount; ++i) {
        const double want = function.reference(in[i]);
        EXPECT_NEAR(out[i], want, std::abs(want) * 1e-15)
            << function.name << " of " << in[i];
      }
    }
  }
}

TEST_P(VectorMathForm, LibmIsCalledPerLane) {
  const Function sine = {"sin", nullptr, std::sin};
  const auto in = arguments<float>(sine);
  const auto sines = apply<float>(
      GetParam(), DType::f32, 8,
      [](VectorBuilder& b, Value* x) { return emit_libm(b, "sin", {x}); }, in);
  const auto powers = apply<float>(
      GetParam(), DType::f32, 8,
      [](VectorBuilder& b, Value* x) {
        return emit_libm(b, "pow", {x, b.like(x, 1.5)});
      },
      in);
  for (int i = 0; i < kCount; ++i) {
    EXPECT_FLOAT_EQ(sines[i], float(std::sin(double(in[i]))));
    EXPECT_FLOAT_EQ(powers[i], float(std::pow(double(in[i]), 1.5)));
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, VectorMathForm,
                         ::testing::ValuesIn(testing::host_levels()),
                         testing::level_name);

}  // namespace TEST_FILE
}  // namespace fxjit::jit
