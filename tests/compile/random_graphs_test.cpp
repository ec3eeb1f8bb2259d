// Random graphs: the interpreter and double precision against compiled code,
// fused and not, at each CPU level, on one thread and two. A failing graph is
// reduced and printed as text.
//
// FXJIT_RANDOM_GRAPHS sets the number of graphs, FXJIT_RANDOM_SEED the first
// seed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/compile/compile_testing.h"
#include "tests/compile/graph_reducer.h"
#include "tests/compile/random_graph.h"

namespace fxjit {
namespace {

using namespace testing;  // Of this folder, not of GoogleTest.

constexpr int kShards = 8;

int64_t setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

struct Configuration {
  CpuLevel level;
  int threads = 1;
  bool fused = true;

  std::string str() const {
    return std::string(cpu_level_name(level)) + ", " + std::to_string(threads) +
           " threads, " + (fused ? "fused" : "unfused");
  }
};

// --- Comparing. ---

double greatest(const std::vector<double>& values) {
  double most = 0;
  for (double v : values)
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  return most;
}

std::vector<double> numbers(const Tensor& t) {
  const Tensor wide = t.to(DType::f64).contiguous();
  const double* first = wide.data_as<double>();
  return {first, first + wide.numel()};
}

// Rounding of a step or two beyond what the interpreter itself is off, relative
// to the greatest element. `exact` is the result in double precision.
std::string float_difference(const Tensor& got, const Tensor& interpreted,
                             const Tensor& exact, bool rounded) {
  const auto a = numbers(got), b = numbers(interpreted), c = numbers(exact);
  double off = 0;
  for (size_t i = 0; i < b.size(); ++i)
    if (std::isfinite(b[i]) && std::isfinite(c[i]))
      off = std::max(off, std::abs(b[i] - c[i]));
  const bool brief =
      rounded || got.dtype() == DType::f16 || got.dtype() == DType::bf16;
  const double allowed =
      20 * off + (brief ? 4e-2 : 5e-5) * greatest(b) + (brief ? 1e-2 : 1e-6);
  for (size_t i = 0; i < a.size(); ++i) {
    const bool finite = std::isfinite(b[i]) && std::isfinite(c[i]);
    const bool equal = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
    if (equal || (finite && std::abs(a[i] - c[i]) <= allowed)) continue;
    return "element " + std::to_string(i) + ": interpreter " +
           std::to_string(b[i]) + ", double precision " + std::to_string(c[i]) +
           ", compiled " + std::to_string(a[i]) + ", allowed " +
           std::to_string(allowed);
  }
  return "";
}

std::string difference(const Value& got, const Value& interpreted,
                       const Value& exact, bool rounded) {
  for (size_t i = 0; i < interpreted.size(); ++i) {
    const Tensor &a = got.at(i).as_tensor(), &b = interpreted.at(i).as_tensor();
    std::string text;
    if (a.describe() != b.describe())
      text = "expected " + b.describe() + ", got " + a.describe();
    else if (is_floating(a.dtype()))
      text = float_difference(a, b, exact.at(i).as_tensor(), rounded);
    else if (a.to_ints() != b.to_ints())
      text = "integers differ";
    if (!text.empty()) return "result " + std::to_string(i) + ": " + text;
  }
  return "";
}

struct Expected {
  Value interpreted, exact;
};

Expected run_interpreter(const GraphCase& c) {
  Expected expected;
  expected.interpreted = c.module()->forward(c.inputs);
  try {
    expected.exact = c.module(true)->forward(c.inputs_as(true));
  } catch (const Error&) {
    // Integers became float32 beside float64: the types do not mix.
    expected.exact = expected.interpreted;
  }
  return expected;
}

std::string failure(const GraphCase& c, const Expected& expected,
                    const Configuration& how) {
  const auto module = c.module();
  CompileOptions options = options_for(how.level, how.threads);
  if (!how.fused) options.disabled_passes = optional_passes();
  try {
    compile(*module, options);
    if (!prepare(*module, c.inputs)) return report(*module);
    return difference(module->forward(c.inputs), expected.interpreted,
                      expected.exact, c.rounded);
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string failure(const GraphCase& c, const Configuration& how) {
  return failure(c, run_interpreter(c), how);
}

void check(const GraphCase& c, uint32_t seed) {
  const Expected expected = run_interpreter(c);
  std::vector<Configuration> all;
  for (CpuLevel level : host_levels()) all.push_back({level, 1, true});
  all.push_back({host_cpu_level(), 2, true});
  // One of the unfused ones each.
  const auto levels = host_levels();
  all.push_back({levels[seed % levels.size()], 1 + int(seed / 3 % 2), false});
  for (const Configuration& how : all) {
    if (failure(c, expected, how).empty()) continue;
    const GraphCase least =
        reduce_graph({c.graph->copy(), c.inputs, c.constants, c.rounded},
                     [&](const GraphCase& smaller) {
                       return !failure(smaller, how).empty();
                     });
    ADD_FAILURE() << "seed " << seed << ", " << how.str() << "\n"
                  << failure(least, how) << "\n"
                  << least.str();
    return;
  }
}

class RandomGraphs : public ::testing::TestWithParam<int> {};

TEST_P(RandomGraphs, CompiledGivesTheInterpretersResult) {
  WarningLog quiet;
  const int64_t count = setting("FXJIT_RANDOM_GRAPHS", 200);
  const int64_t first = setting("FXJIT_RANDOM_SEED", 1);
  for (int64_t i = GetParam(); i < count; i += kShards) {
    const auto seed = static_cast<uint32_t>(first + i);
    check(random_graph(seed), seed);
  }
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomGraphs, ::testing::Range(0, kShards));

}  // namespace
}  // namespace fxjit
