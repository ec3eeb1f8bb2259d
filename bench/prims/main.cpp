// fxjit_prim_bench: what one primitive of a scalar body takes.
// `prim/exp/avx512` runs generated code for it over floats in the first-level
// cache. It is a program of its own, since it calls the code generator, which
// libfxjit.so does not show.
//
//   ns_per_vector  of 16, 8 or 4 floats
//   multiply_adds  as many vector multiply-adds take that time at best: what
//                  program::limit_cost says, which no measurement may undercut
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "src/compile/engine.h"
#include "src/compile/machine_limits.h"
#include "src/program/steps/steps.h"
#include "src/support/machine/vector_lanes.h"
#include "src/weights/panels.h"

namespace fxjit::bench {
namespace {

constexpr Prim kPrims[] = {
    Prim::mul,  Prim::maximum, Prim::div,       Prim::sqrt, Prim::rsqrt,
    Prim::exp,  Prim::log,     Prim::tanh,      Prim::erf,  Prim::sigmoid,
    Prim::silu, Prim::gelu,    Prim::gelu_tanh, Prim::exp2, Prim::expm1,
    Prim::log2, Prim::log10,   Prim::log1p,     Prim::sin,  Prim::cos,
    Prim::tan,  Prim::asin,    Prim::acos,      Prim::atan, Prim::sinh,
    Prim::cosh, Prim::pow};
constexpr int64_t kElements = 4096;

Engine& engine_of(CpuLevel level) {
  static std::array<std::unique_ptr<Engine>, 3> engines;
  auto& engine = engines[static_cast<size_t>(level)];
  if (!engine) {
    jit::EngineOptions options;
    options.cpu_level = level;
    engine = std::make_unique<Engine>(support::ObjectCacheOptions(), options);
  }
  return *engine;
}

program::Program program_of(Prim prim) {
  program::RowStep step;
  step.inner = kElements;
  step.inputs = {program::Access()};
  step.outputs = {program::Access()};
  ScalarBuilder body;
  const Scalar x = body.input(0, DType::f32);
  step.body =
      body.finish({prim_arity(prim) == 1
                       ? body.apply(prim, x)
                       : body.apply(prim, x, body.constant(1.25, DType::f32))});
  program::Program program;
  program.steps.push_back({program::StepBody(step), {}, prim_name(prim), {}});
  return program;
}

// Positive, so that logarithms and roots take their usual path.
std::vector<float> inputs() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(0.05f, 4);
  std::vector<float> x(kElements);
  std::generate(x.begin(), x.end(), [&] { return value(random); });
  return x;
}

void run(benchmark::State& state, Prim prim, CpuLevel level) {
  Engine& engine = engine_of(level);
  program::Program program = program_of(prim);
  program::analyse(program.steps[0].body.change(),
                   program::Machine{.level = level});
  const jit::ProgramCode code = jit::compile_program(
      program, nullptr, engine.compiler(), engine.code(), 1);
  const program::StepPlan plan =
      program::step_plan(*program.steps[0].body, level);
  std::vector<float> x = inputs(), y(x.size());
  void* operands[] = {x.data(), y.data()};
  int32_t status = 0;
  const program::StepCode& step = code.kernels[0];
  const program::StepCall call{operands, nullptr, &status, step.data.get()};
  double best = 1e18;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    step.kernel(&call, 0, plan.tasks);
    const std::chrono::duration<double, std::nano> time =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  const auto lanes = static_cast<double>(support::vector_lanes(level));
  const double each = best * lanes / kElements;
  state.counters["ns_per_vector"] = each;
  state.counters["multiply_adds"] =
      each * machine_limits(engine).gflops / (2 * lanes);
}

void register_benchmarks() {
  for (CpuLevel level : {CpuLevel::sse41, CpuLevel::avx2, CpuLevel::avx512}) {
    if (!host_supports(level)) continue;
    for (Prim prim : kPrims) {
      const std::string name = std::string("prim/") + prim_name(prim) + "/" +
                               std::string(cpu_level_name(level));
      benchmark::RegisterBenchmark(
          name.c_str(),
          [prim, level](benchmark::State& state) { run(state, prim, level); });
    }
  }
}

}  // namespace
}  // namespace fxjit::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  fxjit::bench::register_benchmarks();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
