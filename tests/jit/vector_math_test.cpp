// Sweeps each inlined function over the whole float range at each CPU level
// against the standard library in double, within the bounds of kMathBounds.
#include "jit/emit/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "src/ops/eager/prim_math.h"
#include "tests/jit/jit_test_util.h"
#include "tests/support/sanitizers.h"

namespace fxjit::jit {
namespace TEST_FILE {

namespace prim = ops::prim;

using testing::Kernel;
using UnaryKernel = Kernel<const float*, float*, int64_t>;

constexpr int kBlock = 4096;  // A multiple of every level's lanes.
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
// The sweep is about numbers, of which sanitizers see nothing.
constexpr uint64_t kStride = fxjit::testing::kSanitizer ? 53 * 97 : 53;

struct Function {
  const char* name;
  Value* (*emit)(VectorBuilder&, Value*);
  double (*reference)(double);
  const char* bound = name;  // As in kMathBounds.
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu(double x) { return x * 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh(double x) {
  if (x > 100) return x;  // The cube of a great float overflows to infinity.
  const double inner =
      std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * inner));
}
double rsqrt(double x) { return 1 / std::sqrt(x); }
double gate(double x, double y) { return std::tanh(x) * sigmoid(y); }

// Gates over a line, on which each argument takes every float.
constexpr float kOther = 0.75f;
Value* emit_gate_of_same(VectorBuilder& b, Value* x) {
  return emit_gate(b, x, x);
}
Value* emit_gate_of_opposite(VectorBuilder& b, Value* x) {
  return emit_gate(b, x, b.neg(x));
}
Value* emit_gate_of_tanh(VectorBuilder& b, Value* x) {
  return emit_gate(b, x, b.like(x, kOther));
}
Value* emit_gate_of_sigmoid(VectorBuilder& b, Value* x) {
  return emit_gate(b, b.like(x, kOther), x);
}
double gate_of_same(double x) { return gate(x, x); }
double gate_of_opposite(double x) { return gate(x, -x); }
double gate_of_tanh(double x) { return gate(x, kOther); }
double gate_of_sigmoid(double x) { return gate(kOther, x); }

const Function kFunctions[] = {
    {"exp", emit_exp, std::exp},
    {"exp_softmax", emit_exp_softmax, std::exp},
    {"log", emit_log, std::log},
    {"expm1", emit_expm1, std::expm1},
    {"log1p", emit_log1p, std::log1p},
    {"sigmoid", emit_sigmoid, sigmoid},
    {"silu", emit_silu, silu},
    {"gate", emit_gate_of_same, gate_of_same},
    {"gate_of_opposite", emit_gate_of_opposite, gate_of_opposite, "gate"},
    {"gate_of_tanh", emit_gate_of_tanh, gate_of_tanh, "gate"},
    {"gate_of_sigmoid", emit_gate_of_sigmoid, gate_of_sigmoid, "gate"},
    {"tanh", emit_tanh, std::tanh},
    {"erf", emit_erf, std::erf},
    {"gelu", emit_gelu, gelu},
    {"gelu_tanh", emit_gelu_tanh, gelu_tanh},
    {"rsqrt", emit_rsqrt, rsqrt},
};

// Those above and the smooth primitives that have no line there, beside what
// the interpreter computes in double.
std::vector<Function> all_functions() {
  std::vector<Function> all(std::begin(kFunctions), std::end(kFunctions));
  const auto add = [&](Function function) {
    const auto named = [&](const Function& other) {
      return std::string_view(other.name) == function.name;
    };
    if (std::none_of(all.begin(), all.end(), named)) all.push_back(function);
  };
#define FXJIT_PRIM(name, arity, cost)
#define FXJIT_SMOOTH(name, cost, expression) \
  add({#name, emit_##name, [](double x) -> double { return expression; }});
#include "fxjit/prims.inc"
  return all;
}

const MathBound& bound_of(std::string_view name) {
  for (const MathBound& bound : kMathBounds) {
    if (name == bound.name) return bound;
  }
  ADD_FAILURE() << "no bound for " << name;
  return kMathBounds[0];
}

// Distance of floats around `value`: the power of two in it, 2^23 times less,
// which is a normal double.
double ulp_size(double value) {
  constexpr uint64_t kExponent = 0x7ff, kPlaces = 52;
  const double magnitude =
      std::max(std::abs(value), double(std::numeric_limits<float>::min()));
  const uint64_t power =
      std::bit_cast<uint64_t>(magnitude) & (kExponent << kPlaces);
  return std::bit_cast<double>(power - (uint64_t{23} << kPlaces));
}

// What the functions' code depends on.
struct Variant {
  CpuLevel level;
  bool long_tables;

  std::string name() const {
    return std::string(cpu_level_name(level)) +
           (long_tables ? "_long_tables" : "");
  }
};

std::vector<Variant> host_variants() {
  std::vector<Variant> variants;
  for (CpuLevel level : testing::host_levels()) {
    variants.push_back({level, false});
    if (level == CpuLevel::avx512) variants.push_back({level, true});
  }
  return variants;
}

UnaryKernel compile(const Function& function, const Variant& variant) {
  return UnaryKernel(variant.level, [&](VectorBuilder& b,
                                        std::span<Value* const> args) {
    b.set_long_tables(variant.long_tables);
    b.loop(b.i64(0), args[2], b.i64(b.lanes()), [&](Value* i) {
      Value* x = b.load(DType::f32, b.offset(args[0], b.f32(), i));
      b.store(DType::f32, function.emit(b, x), b.offset(args[1], b.f32(), i));
    });
  });
}

// The worst finding of one level.
struct Worst {
  double ulp = 0, ulp_at = 0;
  double absolute = 0, absolute_at = 0;
  std::string wrong;  // First result of the wrong kind.

  void check(const MathBound& bound, float x, float got, double want) {
    if (std::isnan(want) || std::isinf(float(want)) || !std::isfinite(got)) {
      // A bound may let the last finite value round to infinity.
      const bool same = std::isnan(want) ? std::isnan(got) : got == float(want);
      if (!same && wrong.empty() && !near_overflow(bound, got, want)) {
        wrong = std::to_string(x) + ": got " + std::to_string(got) + ", want " +
                std::to_string(want);
      }
      return;
    }
    if (want == 0 && got == 0 && std::signbit(want) != std::signbit(got) &&
        wrong.empty()) {
      wrong = "sign of zero at " + std::to_string(x);
    }
    const double error = std::abs(double(got) - want);
    if (std::abs(want) >= bound.from) {
      const double units = error / ulp_size(want);
      if (units > ulp) ulp = units, ulp_at = x;
    } else if (error > absolute) {
      absolute = error, absolute_at = x;
    }
  }

  static bool near_overflow(const MathBound& bound, float got, double want) {
    const double most = std::numeric_limits<float>::max();
    const double slack = bound.ulp * ulp_size(most);
    return !std::isnan(want) && !std::isnan(got) &&
           std::abs(want) > most - slack && std::abs(want) < most + slack &&
           std::abs(got) > most - slack &&
           std::signbit(got) == std::signbit(want);
  }
};

std::vector<float> specials() {
  std::vector<float> values = {0.0f,   1e-45f, 1.17e-38f, 1e-40f, 3.4e38f,
                               kInf,   88.7f,  88.73f,    100.0f, 103.9f,
                               104.1f, 87.3f,  0.5f,      1.0f,   5.5f};
  for (size_t i = values.size(); i-- > 0;) values.push_back(-values[i]);
  values.push_back(kNan);
  values.push_back(-kNan);
  return values;
}

class VectorMathSweep : public ::testing::TestWithParam<Function> {
 protected:
  void SetUp() override {
    for (const Variant& variant : variants_) {
      kernels_.push_back(compile(GetParam(), variant));
    }
    worst_.resize(kernels_.size());
  }

  void flush() {
    inputs_.resize(kBlock, 0.0f);
    const auto reference = GetParam().reference;
    std::vector<double> want(kBlock);
    for (int i = 0; i < kBlock; ++i) want[i] = reference(double(inputs_[i]));
    std::vector<float> got(kBlock);
    for (size_t k = 0; k < kernels_.size(); ++k) {
      kernels_[k](inputs_.data(), got.data(), kBlock);
      Worst worst = worst_[k];
      for (int i = 0; i < kBlock; ++i)
        worst.check(bound_, inputs_[i], got[i], want[i]);
      worst_[k] = worst;
    }
    inputs_.clear();
  }

  void push(float x) {
    if (x > bound_.highest) return;
    inputs_.push_back(x);
    if (inputs_.size() == kBlock) flush();
  }

  MathBound bound_ = bound_of(GetParam().bound);
  std::vector<Variant> variants_ = host_variants();
  std::vector<UnaryKernel> kernels_;
  std::vector<Worst> worst_;
  std::vector<float> inputs_;
};

TEST_P(VectorMathSweep, StaysWithinItsBound) {
  for (uint64_t bits = 0; bits >> 32 == 0; bits += kStride) {
    const float x = std::bit_cast<float>(uint32_t(bits));
    if (!std::isnan(x) || bits % 1000 == 0) push(x);
  }
  for (float x : specials()) push(x);
  flush();

  for (size_t k = 0; k < variants_.size(); ++k) {
    const std::string variant = variants_[k].name();
    const Worst& worst = worst_[k];
    EXPECT_LE(worst.ulp, bound_.ulp) << variant << " at " << worst.ulp_at;
    EXPECT_LE(worst.absolute, bound_.absolute)
        << variant << " at " << worst.absolute_at;
    EXPECT_EQ(worst.wrong, "") << variant;
    RecordProperty(variant + "_ulp", std::to_string(worst.ulp));
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, VectorMathSweep,
                         ::testing::ValuesIn(all_functions()),
                         [](const auto& info) {
                           return std::string(info.param.name);
                         });

}  // namespace TEST_FILE
}  // namespace fxjit::jit
